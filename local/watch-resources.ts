import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import { ApiError, type Cluster } from "../lib/core/ports/cluster.ts";
import type { Log } from "../lib/core/ports/log.ts";
import { formatWorkKey } from "../lib/core/work-key.ts";
import {
  type ObserveDeps,
  observeAll,
  observeGone,
  observeResource,
  type WatchedResource,
} from "../lib/queue/observe-resource.ts";
import { type ObservedKind, observedKey } from "../lib/queue/observed-kinds.ts";
import type { Presence } from "./presence.ts";

export interface WatchDeps extends ObserveDeps {
  readonly cluster: Pick<Cluster, "watch">;
  /** As work keys name it. */
  readonly clusterId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Told which objects there are. */
  readonly shows?: Presence;
  /** Only objects in its namespaces are watched. */
  readonly near?: Presence;
}

const firstWaitMs = 200;
const maxWaitMs = 10_000;
/** If a watch breaks off sooner, listing all objects again at once would be a busy loop. */
const shortWatchMs = 1_000;

/**
 * Requests reconciles as the objects of a kind change, until `signal` is aborted. Whenever a watch begins, it
 * compares all objects with those that it observed before, so it misses no change in between.
 */
export async function watchResources(kind: ObservedKind, deps: WatchDeps, signal: AbortSignal): Promise<void> {
  let waitMs = firstWaitMs;
  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    const watch = { startedAt: deps.clock.monotonic(), isListed: false };
    try {
      await follow(kind, deps, signal, () => {
        watch.isListed = true;
      });
    } catch (error) {
      if (isStopped()) return;
      if (watch.isListed && deps.clock.monotonic() - watch.startedAt >= shortWatchMs) waitMs = firstWaitMs;
      // The server keeps events for a limited time: being too late (410) is as usual as a lost connection.
      const isTooLate = error instanceof ApiError && error.code === 410;
      if (!isTooLate) deps.log.warn("watch ended, trying again", { kind: kind.kind, waitMs, error: messageOf(error) });
      await deps.clock.sleep(waitMs, signal).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, maxWaitMs);
    }
  }
}

async function follow(
  kind: ObservedKind,
  watchDeps: WatchDeps,
  signal: AbortSignal,
  onListed: () => void,
): Promise<void> {
  const deps = { ...watchDeps, ...kind.observe };
  let listing: Map<string, WatchedResource> | undefined = new Map();
  for await (const event of deps.cluster.watch({ ...kind, isMetadataOnly: true }, signal)) {
    if (event.type === "BOOKMARK") {
      if (!event.initialEventsEnd || listing === undefined) continue;
      const present = [...listing.values()];
      deps.shows?.set(present.map(({ key }) => key));
      await observeAll(observedKey(kind, deps.clusterId, { name: "" }), present, deps, signal);
      listing = undefined;
      onListed();
      continue;
    }
    const { metadata } = event.object;
    if (deps.near?.hasIn(metadata.namespace ?? "") === false) continue;
    const resource = { key: observedKey(kind, deps.clusterId, metadata), metadata };
    if (listing === undefined) await take(event.type, resource, deps, signal);
    else if (event.type === "DELETED") listing.delete(formatWorkKey(resource.key));
    else listing.set(formatWorkKey(resource.key), resource);
  }
}

async function take(
  type: "ADDED" | "MODIFIED" | "DELETED",
  resource: WatchedResource,
  deps: WatchDeps,
  signal: AbortSignal,
): Promise<void> {
  if (type === "DELETED") {
    deps.shows?.remove(resource.key);
    await observeGone(resource.key, deps, signal);
  } else {
    deps.shows?.add(resource.key);
    await observeResource(resource, deps, signal);
  }
}
