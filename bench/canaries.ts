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
import { delaysOfSteps } from "./canary-delays.ts";
import { applyCanaries, prometheus, releaseAll, statuses, weights } from "./canary-load.ts";
import { type Figure, figure } from "./figure.ts";

const options = { manager: "bench", force: true };
/** Five steps of ten seconds, well within the run: 2 % a step up to 50 %. */
const windowMs = 50_000;
/** The share at which it begins: each Canary has taken three steps, so the code has been compiled. A process lives for weeks. */
const firstWeight = 6;
const patienceMs = 600_000;
/** More than an interval: what the initialisation has changed has woken the Canaries once more. */
const settleMs = 15_000;
/** Since the message before. */
const Used = z.object({ cpuMs: z.number(), requests: z.int(), runs: z.int(), megabytes: z.number() });
const AnyObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

/**
 * So many Canaries with the Gateway API and one metric, every ten seconds, in `sluice local`; the Kubernetes API is in another process. At
 * rest, and while all of them advance: processor time, requests and delay of a step, and what a minute at rest takes. The sweep asks as many
 * requests at rest for one Canary as for a thousand.
 */
export async function advancingCanaries(count: number): Promise<readonly Figure[]> {
  await using open = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-canaries-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const metricsServer = await prometheus(open);
  const { cluster, kubeconfig } = await emptyCluster(folder, open);
  const signal = AbortSignal.timeout(2 * patienceMs);
  await applyCanaries(count, cluster, signal);
  const state = join(folder, "sluice");
  const used = await sluiceProcess({ kubeconfig, folder: state, metricsServer }, open);
  await until("all Canaries to be Initialized", async () =>
    (await statuses(cluster, signal)).every(({ phase }) => phase === "Initialized"),
  );
  await systemClock.sleep(settleMs, signal);
  await used();
  await systemClock.sleep(windowMs, signal);
  const atRest = await used();
  await releaseAll(count, cluster, signal);
  await until("all Canaries to advance", async () =>
    (await statuses(cluster, signal)).every(({ canaryWeight = 0 }) => canaryWeight >= firstWeight),
  );
  const over = new AbortController();
  const delays = delaysOfSteps(state, cluster, over.signal);
  const before = await weights(cluster, signal);
  await used();
  await systemClock.sleep(windowMs, signal);
  const advancing = await used();
  const steps = ((await weights(cluster, signal)) - before) / 2;
  over.abort(new Error("the window is over"));
  return figures(count, { atRest, advancing, steps, delays: await delays });
}

interface Measured {
  readonly atRest: z.infer<typeof Used>;
  readonly advancing: z.infer<typeof Used>;
  readonly steps: number;
  readonly delays: readonly number[];
}

function figures(count: number, { advancing, atRest, delays, steps }: Measured): readonly Figure[] {
  const minute = 60_000 / windowMs;
  const of = `${count} Canaries`;
  const inTen = (steps * 10_000) / windowMs;
  return [
    figure(`${of} at rest, processor time a minute`, "ms", [atRest.cpuMs * minute]),
    figure(`${of} at rest, runs of them a minute`, "runs", [atRest.runs * minute], { of: "max", atMost: 0 }),
    figure(`${of} at rest, requests of the sweep a minute`, "requests", [atRest.requests * minute]),
    figure(`${of} advancing, steps in ten seconds`, "runs", [inTen], { of: "min", atLeast: 0.98 * count }),
    figure(`${of} advancing, processor time a step`, "ms", [advancing.cpuMs / steps], { of: "median", atMost: 3 }),
    // Of a process, and not of a step: the look at the gate every five seconds, and that at the Alerts.
    figure(`${of} advancing, requests a step`, "requests", [advancing.requests / steps], { of: "median", atMost: 6.1 }),
    figure(`${of} advancing, from due to the changed weight`, "ms", delays, { of: "p95", atMost: 300 }),
    figure(`${of} advancing, peak of memory`, "MB", [advancing.megabytes]),
  ];
}

/** Answers what the process has used since the last call. */
async function sluiceProcess(task: Task, open: AsyncDisposableStack): Promise<() => Promise<z.infer<typeof Used>>> {
  const child = fork(join(import.meta.dirname, "canaries-process.ts"), [JSON.stringify(task)]);
  open.defer(() => void child.kill());
  await once(child, "message");
  return async () => {
    const answer = once(child, "message");
    child.send("used");
    const [first] = z.array(z.unknown()).parse(await answer);
    return Used.parse(first);
  };
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
