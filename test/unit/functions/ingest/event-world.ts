import { ingestHandler } from "../../../../functions/ingest.ts";
import type { Clock } from "../../../../lib/core/ports/clock.ts";
import type { Flow } from "../../../../lib/core/ports/run.ts";
import type { WakeUp } from "../../../../lib/core/ports/wake-ups.ts";
import { bucketTopic } from "../../../../lib/core/topics.ts";
import { formatWorkKey, type WorkKey } from "../../../../lib/core/work-key.ts";
import { sourceFlow } from "../../../../lib/flows/source/source-flow.ts";
import { handleWakeUp } from "../../../../lib/queue/handle-wake-up.ts";
import type { RunnerDeps } from "../../../../lib/queue/queue-deps.ts";
import { reconcileRequests } from "../../../../lib/queue/request-reconcile.ts";
import { rules } from "../../../../lib/queue/rules.ts";
import { runPlaces } from "../../../../lib/queue/run-places.ts";
import { sweep } from "../../../../lib/queue/sweep.ts";
import { sqliteArtifactRecords } from "../../../../local/state/artifact-records.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { never } from "../../../contract/state-back-end.ts";
import { memorySource, type Shelves, shelves } from "../../../doubles/memory-source.ts";
import { silentLog } from "../../../doubles/silent-log.ts";
import { sourceWorld } from "../../flows/source-world.ts";
import { sample } from "./ingest-world.ts";

/** A longer wait is a lease's: it ends with its run. */
const longestWaitMs = 10_000;

/**
 * From an event of S3 to the status of the sources that follow the bucket, in virtual time: ingest, the queue, the sweep of the table
 * and the flow of a source whose buckets are in memory. The state is in SQLite.
 */
export async function eventWorld() {
  const world = await sourceWorld(undefined, "Bucket");
  const held: Shelves = shelves();
  const database = openStateDatabase(":memory:");
  const subscriptions = sqliteSubscriptions(database);
  const records = sqliteArtifactRecords(database);
  const stored = sqliteWorkItems(database);
  const counts = { runs: 0, itemWrites: 0, wakeUps: 0 };
  const messages: { readonly wakeUp: WakeUp; readonly at: number }[] = [];
  const { state } = world;
  const clock: Clock = {
    now: () => state.now,
    monotonic: () => state.now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        if (ms < longestWaitMs) resolve();
      }),
  };
  const deps: RunnerDeps & { items: typeof stored } = {
    items: {
      ...stored,
      put: (...args) => {
        counts.itemWrites += 1;
        return stored.put(...args);
      },
    },
    wakeUps: {
      send: async (wakeUp, delayMs) => {
        counts.wakeUps += 1;
        messages.push({ wakeUp, at: state.now + delayMs });
      },
    },
    deadLetters: { send: async () => undefined },
    ...{ clock, log: silentLog, rules },
    runPlaces: runPlaces(clock),
    newHolder: () => `holder-${counts.runs}-${state.now}`,
    inputOf: async () => "input",
    onParked: async () => undefined,
  };
  const requests = reconcileRequests(deps);
  const memory = memorySource(held);
  const source: typeof memory = { ...memory, topics: ({ shelf }) => [bucketTopic(shelf)] };
  const flow: Flow = (run) => {
    counts.runs += 1;
    return sourceFlow(source, { ...world.deps, clock, subscriptions, records, requests })(run);
  };
  const ingest = ingestHandler({
    ...{ subscriptions, requests, log: silentLog, metrics: world.deps.metrics },
    observed: { get: async () => undefined },
    registryHosts: () => [],
    isAdmitted: () => true,
  });
  const keyOf = (name: string): WorkKey => ({
    ...{ cluster: "here", group: "source.toolkit.fluxcd.io", kind: "Bucket", namespace: "apps", name },
  });
  /** Handles the messages that are visible, and those that follow from them. */
  const work = async (): Promise<void> => {
    for (;;) {
      const index = messages.findIndex(({ at }) => at <= state.now);
      const [next] = index === -1 ? [] : messages.splice(index, 1);
      if (next === undefined) return;
      await handleWakeUp({ wakeUp: next.wakeUp, extend: async () => undefined }, flow, deps, never);
    }
  };
  return {
    counts,
    held,
    world,
    work,
    /** An object that follows the bucket of its name, whose first run is over. */
    async follow(name: string): Promise<void> {
      held.held.set(name, { version: "v1", files: { "a.yaml": "kind: ConfigMap\n" }, pushed: "2026-11-21T11:00:00Z" });
      const metadata = { name, namespace: "apps" };
      const spec = { interval: "10m", shelf: name };
      world.apply({ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "Bucket", metadata, spec });
      await requests.request(keyOf(name), "new", never);
      await work();
    },
    /** Somebody stores a new version. */
    change(name: string, version: string): void {
      held.held.set(name, {
        ...{ version, files: { "a.yaml": `kind: Secret # ${version}\n` } },
        pushed: new Date(state.now).toISOString(),
      });
    },
    /** The event that S3 sends of it. */
    async tell(name: string): Promise<void> {
      const event = await sample("s3-created", { bucket: { name } });
      await ingest(event, never);
    },
    /** Minutes pass, each with its sweep. */
    async minutes(count: number): Promise<void> {
      for (let minute = 0; minute < count; minute++) {
        state.now += 60_000;
        await sweep(deps, never);
        await work();
      }
    },
    revision: (name: string) => JSON.stringify(world.get(name)["status"]).match(/"revision":"([^"]+)"/)?.[1],
    missed: () => world.measured.filter(([, measures]) => measures.EventsMissed === 1).length,
    item: (name: string) => stored.get(keyOf(name), never),
    id: (name: string) => formatWorkKey(keyOf(name)),
    async [Symbol.asyncDispose](): Promise<void> {
      database.close();
      await world.close();
    },
  };
}
