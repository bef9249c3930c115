import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { declaredCanary } from "../lib/api/kinds/canary.ts";
import { customResourceDefinition } from "../lib/definitions/custom-resource-definition.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { startEmbeddedCluster } from "../local/start-embedded-cluster.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import type { Task } from "./canaries-process.ts";
import { applyCanaries, prometheus, releaseAll, statuses, weights } from "./canary-load.ts";
import { type Figure, figure } from "./figure.ts";

const canaries = 200;
const options = { manager: "bench", force: true };
/** Five steps of ten seconds, well within the run: 2 % a step up to 50 %. */
const windowMs = 50_000;
const patienceMs = 300_000;
/** Since the message before. */
const Used = z.object({ cpuMs: z.number(), requests: z.int(), megabytes: z.number() });
const AnyObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

/**
 * 200 Canaries with the Gateway API and one metric, every ten seconds, in `sluice local`; the Kubernetes API is in another process. At
 * rest, and while all of them advance: processor time and requests of a step, and of a minute at rest.
 */
export async function advancingCanaries(): Promise<readonly Figure[]> {
  await using open = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-canaries-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const metricsServer = await prometheus(open);
  const { cluster, kubeconfig } = await emptyCluster(folder, open);
  const signal = AbortSignal.timeout(patienceMs);
  await applyCanaries(canaries, cluster, signal);
  const task: Task = { kubeconfig, folder: join(folder, "sluice"), metricsServer };
  const child = fork(join(import.meta.dirname, "canaries-process.ts"), [JSON.stringify(task)]);
  open.defer(() => void child.kill());
  await once(child, "message");
  const used = async () => {
    const answer = once(child, "message");
    child.send("used");
    const [first] = z.array(z.unknown()).parse(await answer);
    return Used.parse(first);
  };
  await until("all Canaries to be Initialized", async () =>
    (await statuses(cluster, signal)).every(({ phase }) => phase === "Initialized"),
  );
  await systemClock.sleep(15_000, signal);
  await used();
  await systemClock.sleep(windowMs, signal);
  const atRest = await used();
  await releaseAll(canaries, cluster, signal);
  await until("all Canaries to advance", async () =>
    (await statuses(cluster, signal)).every(({ canaryWeight = 0 }) => canaryWeight > 0),
  );
  const before = await weights(cluster, signal);
  await used();
  await systemClock.sleep(windowMs, signal);
  const advancing = await used();
  const steps = ((await weights(cluster, signal)) - before) / 2;
  const minute = 60_000 / windowMs;
  const of = `${canaries} Canaries`;
  return [
    figure(`${of} at rest, processor time a minute`, "ms", [atRest.cpuMs * minute]),
    figure(`${of} at rest, requests a minute`, "requests", [atRest.requests * minute]),
    figure(`${of} advancing, steps in ten seconds`, "runs", [(steps * 10_000) / windowMs]),
    figure(`${of} advancing, processor time a step`, "ms", [advancing.cpuMs / steps]),
    figure(`${of} advancing, requests a step`, "requests", [advancing.requests / steps]),
    figure(`${of} advancing, peak of memory`, "MB", [advancing.megabytes]),
  ];
}

async function emptyCluster(folder: string, open: AsyncDisposableStack) {
  const server = await startEmbeddedCluster({ stateFolder: folder, port: 0, names: [], log: silentLog });
  open.defer(() => server.close());
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  const config = await readKubeconfig({ file: kubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  open.defer(() => cluster.close());
  const httpRoute: unknown = JSON.parse(
    await readFile(join(import.meta.dirname, "../local/demo/gateway-api/httproutes.json"), "utf8"),
  );
  const definitions = [await customResourceDefinition(declaredCanary), httpRoute];
  const signal = AbortSignal.timeout(patienceMs);
  for (const definition of definitions) await cluster.apply(AnyObject.parse(definition), options, signal);
  return { cluster, kubeconfig };
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ${patienceMs / 1_000} s for ${what}`);
    await systemClock.sleep(500, new AbortController().signal);
  }
}
