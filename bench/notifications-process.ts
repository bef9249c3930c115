// As `sluice` does.
import "../local/small-heap.ts";
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { z } from "zod";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { asHome } from "../lib/core/ports/home-and-target.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { deliverNotifications } from "../lib/notify/deliver.ts";
import { dispatchEvent } from "../lib/notify/dispatch.ts";
import { listedAlerts } from "../lib/notify/listed-alerts.ts";
import { providers } from "../lib/notify/providers/providers.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { startNotifications } from "../local/notifications.ts";
import { openStores } from "../local/state/open-stores.ts";
import { openStateDatabase } from "../local/state/state-database.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import { eventOf, Load } from "./notification-load.ts";

/**
 * What sends the events of `sluice local`, in a process of its own, so that its memory and processor time are its own. Gets a
 * {@link Task} as its argument, and tells by IPC what it has used when its parent says that everything has arrived.
 */
const Task = Load.extend({ kubeconfig: z.string(), folder: z.string() });
export type Task = z.infer<typeof Task>;

const cluster = "bench";
const task = Task.parse(JSON.parse(process.argv[2] ?? "{}"));
const stopped = new AbortController();
const { signal } = stopped;
const config = await readKubeconfig({ file: task.kubeconfig, env: {}, homeDir: homedir() });
const connected = connect(config, { clock: systemClock, env: {} });
const home = asHome(connected);
const clusters = { get: () => ({ home }) };
const http = httpClient({ network: homeNetwork });
const common = { clusters, clock: systemClock, log: silentLog };
const database = openStateDatabase(":memory:");
const stores = openStores(database, task.folder, systemClock);
const deliver = deliverNotifications({
  ...common,
  providers,
  parts: {
    ...{ http, dial: http.dial, now: () => systemClock.now() },
    sleep: (ms: number, stop: AbortSignal) => systemClock.sleep(ms, stop),
  },
  commitStatusOf: async () => "",
  noCrossNamespaceRefs: false,
  gates: { ObjectLevelWorkloadIdentity: false },
});
const queue = startNotifications({ ...common, deliver }, signal);
const alerts = listedAlerts(systemClock);
const deps = { ...common, alerts, windows: stores.eventWindows, groups: stores.causeGroups, queue };

// The Alerts are listed, and what is loaded once is loaded.
await dispatchEvent(cluster, eventOf(-1, task), undefined, deps, signal).catch((error: unknown) => {
  if (!(error instanceof ApiError)) throw error;
});
await systemClock.sleep(500, signal);
const begun = process.cpuUsage();
const sending: Promise<unknown>[] = [];
for (let index = 0; index < task.events; index++) {
  const sent = dispatchEvent(cluster, eventOf(index, task), undefined, deps, signal);
  if (task.gapMs === 0) {
    sending.push(sent);
    continue;
  }
  await sent;
  await systemClock.sleep(task.gapMs, signal);
}
await Promise.all(sending);
process.once("message", () => {
  const { user, system } = process.cpuUsage(begun);
  const megabytes = (process.resourceUsage().maxRSS * 1.024) / 1_000;
  const openFiles = readdirSync("/proc/self/fd").length;
  const used = { cpuMs: (user + system) / 1_000, megabytes, openFiles };
  process.send?.(used, () => process.disconnect());
  stopped.abort();
  http.close();
  connected.close();
  database.close();
});
