import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../src/core/log.ts";
import { startKubernetes } from "../../src/start-kubernetes.ts";
import type { RecordedCase } from "./recorded-case.ts";
import { recordingProxy } from "./recording-proxy.ts";
import type { Replay } from "./replay.ts";
import { replayCase } from "./replay-case.ts";

/**
 * Runs a case on a cluster of its own; answers what differs first, or `undefined`. A watch was recorded for a second or two: where the
 * machine is so slow that a step came after its end, the case is run again with watches of twenty times as long.
 */
export async function runCase(recorded: RecordedCase, kubectl?: () => Promise<string>): Promise<string | undefined> {
  const difference = await runOnce(recorded, 1, kubectl);
  const watches = recorded.steps.some(({ watch }) => watch !== undefined);
  return difference === undefined || !watches ? difference : runOnce(recorded, 20, kubectl);
}

async function runOnce(
  recorded: RecordedCase,
  watchFactor: number,
  kubectl?: () => Promise<string>,
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-golden-"));
  const kubernetes = await startKubernetes({
    stateFolder: join(folder, "state"),
    port: 0,
    controllers: recorded.needs === "controllers",
    log: silentLog,
  });
  try {
    const adminToken = /token: (\w+)/.exec(kubernetes.kubeconfig())?.[1] ?? "";
    await using proxy = await recordingProxy(kubernetes.url, adminToken);
    const bindings = new Map<string, string>();
    const replay: Replay = {
      kubernetes,
      adminToken,
      bindings,
      watches: new Map(),
      recorded,
      watchFactor,
      proxy,
      scratch: folder,
      kubectl,
    };
    if (recorded.namespace !== false) await makeNamespace(replay);
    return await replayCase(replay);
  } finally {
    await kubernetes.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The namespace that a case stands in, with its ServiceAccount. */
async function makeNamespace({ kubernetes, adminToken, recorded }: Replay): Promise<void> {
  const post = (path: string, object: object): Promise<Response> =>
    fetch(`${kubernetes.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
      body: JSON.stringify(object),
    });
  await post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "golden-ns" } });
  if (recorded.needs === "controllers") return;
  const metadata = { name: "default" };
  await post("/api/v1/namespaces/golden-ns/serviceaccounts", { apiVersion: "v1", kind: "ServiceAccount", metadata });
}
