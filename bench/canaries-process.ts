// As `sluice` does.
import "../local/small-heap.ts";
import { z } from "zod";
import { defaultSettings } from "../functions/settings/settings.ts";
import { startLocal } from "../local/start-local.ts";
import { silentLog } from "../test/doubles/silent-log.ts";

/**
 * `sluice local` on a cluster of another process, so that its processor time and its requests are its own. Gets a {@link Task} as its
 * argument, and answers each message of its parent by what it has used since the message before.
 */
const Task = z.object({ kubeconfig: z.string(), folder: z.string(), metricsServer: z.string() });
export type Task = z.infer<typeof Task>;

const task = Task.parse(JSON.parse(process.argv[2] ?? "{}"));
const stopped = new AbortController();
let requests = 0;
let runs = 0;
const sluice = await startLocal(
  {
    state: task.folder,
    clusters: [{ name: "bench", file: task.kubeconfig }],
    settings: { ...defaultSettings, "mesh-provider": "gatewayapi:v1", "metrics-server": task.metricsServer },
    env: {},
    log: silentLog,
    observe: ({ verb, path }) => {
      requests += 1;
      // Each run begins with its Canary.
      if (verb === "get" && path.includes("/canaries/")) runs += 1;
    },
  },
  stopped.signal,
);
let before = process.cpuUsage();
process.on("message", () => {
  const { user, system } = process.cpuUsage(before);
  const used = { cpuMs: (user + system) / 1_000, requests, runs, megabytes: process.resourceUsage().maxRSS / 1_000 };
  before = process.cpuUsage();
  requests = 0;
  runs = 0;
  process.send?.(used);
});
process.once("disconnect", () => {
  void sluice.close().finally(() => stopped.abort());
});
process.send?.({ cpuMs: 0, requests: 0, runs: 0, megabytes: 0 });
