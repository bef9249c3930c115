import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ecrHosts } from "../functions/ingest/ecr.ts";
import type { Flow } from "../lib/core/ports/run.ts";
import { repositoryTopic } from "../lib/core/topics.ts";
import type { WorkKey } from "../lib/core/work-key.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { rules } from "../lib/queue/rules.ts";
import { ecrPush } from "../local/aws-events.ts";
import { startRuntime } from "../local/start-runtime.ts";
import { queuedWakeUps } from "../local/state/message-queue.ts";
import { openStores } from "../local/state/open-stores.ts";
import { openStateDatabase } from "../local/state/state-database.ts";
import { noCel } from "../test/doubles/no-cel.ts";
import { noHome, noTarget } from "../test/doubles/no-cluster.ts";
import { openGate } from "../test/doubles/open-gate.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import { type Figure, figure } from "./figure.ts";

const events = 1_000;
const rounds = 5;
/** As long as an unchanged run of a source on loopback. */
const runMs = 10;
const patienceMs = 120_000;
const maxGrowthMb = 8;

const cluster = "bench";
const [account, region] = ["000000000000", "local"];
const [host = ""] = ecrHosts(account, region);

/**
 * A thousand events within a second, from the event to the run that it causes: `functions/ingest`, the queue and the feeder of
 * `sluice local` with its state in memory, and a flow that only waits. All events at once, as a queue hands them out, then evenly
 * over a second; for one repository, and for a thousand.
 */
export async function eventBurst(): Promise<readonly Figure[]> {
  await using burst = await burstWorld();
  const one: number[] = [];
  const spread: number[] = [];
  const waits: number[] = [];
  const lost: number[] = [];
  const heap: number[] = [];
  await burst.follow(["one"]);
  for (let round = 0; round < rounds; round++) {
    one.push(
      await burst.runsOf(() =>
        burst.announce(
          Array.from({ length: events }, () => "one"),
          0,
        ),
      ),
    );
    spread.push(
      await burst.runsOf(() =>
        burst.announce(
          Array.from({ length: events }, () => "one"),
          1_000,
        ),
      ),
    );
    lost.push(await burst.unhandled(["one"]));
  }
  const many = Array.from({ length: events }, (_, index) => `many-${index}`);
  await burst.follow(many);
  for (let round = 0; round < rounds; round++) {
    const runs = await burst.runsOf(() => burst.announce(many, 0), waits);
    lost.push(events - runs, await burst.unhandled(many));
    heap.push(heapMb());
  }
  return [
    figure("1,000 events at once for one repository", "runs", one, { of: "max", atMost: 2 }),
    figure("1,000 events evenly over a second for one repository", "runs", spread, { of: "median", atMost: 2 }),
    figure("1,000 events at once for 1,000 repositories, event to run", "ms", waits),
    figure("events lost", "events", lost, { of: "max", atMost: 0 }),
    figure("memory that 1,000 events leave behind", "MB", growth(heap), { of: "median", atMost: maxGrowthMb }),
  ];
}

async function burstWorld() {
  await using opening = new AsyncDisposableStack();
  const signal = AbortSignal.timeout(10 * patienceMs);
  const folder = await mkdtemp(join(tmpdir(), "sluice-burst-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const database = openStateDatabase(":memory:");
  opening.defer(() => database.close());
  const stores = openStores(database, folder, systemClock);
  const toldAt = new Map<string, number>();
  const waited: number[] = [];
  let runs = 0;
  const flow: Flow = async ({ key: { name }, fence, signal: stop }) => {
    runs += 1;
    const at = toldAt.get(name);
    if (at !== undefined) waited.push(performance.now() - at);
    const subscription = { topic: repositoryTopic(host, name), follows: { kind: "names", names: ["v1"] } } as const;
    await stores.subscriptions.subscribe([subscription], fence, stop);
    await systemClock.sleep(runMs, stop);
    return { outcome: "unchanged", dueInMs: undefined, isQuiet: true };
  };
  const none = { kinds: [], configSelector: "none", cel: noCel };
  const options = { stores, clusterCount: 1, ...none, flows: () => () => flow, registryHosts: ecrHosts };
  const runtime = await startRuntime({ ...options, clock: systemClock, log: silentLog }, signal);
  opening.defer(() => runtime.stop());
  const home = { ...noHome, listMetadata: async () => [] };
  await runtime.serve({
    id: cluster,
    home,
    targetAs: () => noTarget,
    gated: () => noTarget,
    gate: openGate,
    log: silentLog,
  });
  const wakeUps = queuedWakeUps(stores.queue);
  const requests = reconcileRequests({ items: stores.items, wakeUps, clock: systemClock, log: silentLog, rules });
  /** The objects whose last request has not been handled by the end of a run. */
  const unhandled = async (names: readonly string[]): Promise<number> => {
    const items = await Promise.all(names.map((name) => stores.items.get(keyOf(name), signal)));
    return items.filter((item) => item === undefined || item.handled < item.requested || item.lease !== undefined)
      .length;
  };
  const settled = async (names: readonly string[]): Promise<void> => {
    const deadline = performance.now() + patienceMs;
    while ((await unhandled(names)) > 0 && performance.now() < deadline) await systemClock.sleep(runMs, signal);
  };
  let followed: readonly string[] = [];
  const open = opening.move();
  return {
    unhandled,
    /** These objects follow the tag v1 of the repository of their name. */
    async follow(names: readonly string[]): Promise<void> {
      followed = names;
      for (const name of names) await requests.request(keyOf(name), "new", signal);
      await settled(names);
    },
    /** An event for each of these repositories, all at once or evenly over a time. */
    async announce(repositories: readonly string[], overMs: number): Promise<void> {
      const begun = performance.now();
      const told: Promise<void>[] = [];
      for (const [index, repository] of repositories.entries()) {
        const early = begun + (index / repositories.length) * overMs - performance.now();
        if (early > 1) await systemClock.sleep(early, signal);
        toldAt.set(repository, performance.now());
        const push = { registry: host, repository, tag: "v1", digest: "sha256:0" };
        told.push(runtime.ingest(ecrPush(push, systemClock.now())));
      }
      await Promise.all(told);
    },
    /** How many runs this causes; adds to `waits` how long each was waited for. */
    async runsOf(work: () => Promise<void>, waits: number[] = []): Promise<number> {
      const before = runs;
      waited.length = 0;
      await work();
      await settled(followed);
      waits.push(...waited);
      return runs - before;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function keyOf(name: string): WorkKey {
  return { cluster, group: "source.toolkit.fluxcd.io", kind: "OCIRepository", namespace: "bench", name };
}

/** What is alive, in MB. */
function heapMb(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
  return process.memoryUsage().heapUsed / 1_048_576;
}

function growth(heap: readonly number[]): readonly number[] {
  return heap.slice(1).map((mb, index) => mb - (heap[index] ?? mb));
}
