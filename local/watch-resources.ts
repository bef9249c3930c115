import { messageOf } from "../lib/core/failure.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import { ApiError, type Cluster } from "../lib/core/ports/cluster.ts";
import type { Log } from "../lib/core/ports/log.ts";
import { formatWorkKey, type WorkKey } from "../lib/core/work-key.ts";
import {
  type NoticeDeps,
  type NoticedResource,
  noticeAll,
  noticeGone,
  noticeResource,
} from "../lib/queue/notice-resource.ts";

export interface WatchedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface WatchDeps extends NoticeDeps {
  readonly cluster: Pick<Cluster, "watch">;
  /** The cluster's name in work keys. */
  readonly clusterName: string;
  readonly clock: Clock;
  readonly log: Log;
}

const firstWaitMs = 200;
const maxWaitMs = 10_000;
/** One that breaks off sooner is broken off by something on the way, and to list all again at once would be a loop. */
const shortWatchMs = 1_000;

/**
 * Asks for runs as the custom resources of a kind change, until `signal` is aborted. Whenever a watch begins, all that is
 * there is compared with what was seen before, so nothing that happened in between is missed.
 */
export async function watchResources(kind: WatchedKind, deps: WatchDeps, signal: AbortSignal): Promise<void> {
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
      // The server keeps what happened for a while only: being too late for it (410) is as usual as a lost connection.
      const isTooLate = error instanceof ApiError && error.code === 410;
      if (!isTooLate) deps.log.warn("watch ended, trying again", { kind: kind.kind, waitMs, error: messageOf(error) });
      await deps.clock.sleep(waitMs, signal).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, maxWaitMs);
    }
  }
}

async function follow(kind: WatchedKind, deps: WatchDeps, signal: AbortSignal, onListed: () => void): Promise<void> {
  const { group, kind: name } = kind;
  let listing: Map<string, NoticedResource> | undefined = new Map();
  for await (const event of deps.cluster.watch(kind, signal)) {
    if (event.type === "BOOKMARK") {
      if (!event.initialEventsEnd || listing === undefined) continue;
      await noticeAll({ cluster: deps.clusterName, group, kind: name }, [...listing.values()], deps, signal);
      listing = undefined;
      onListed();
      continue;
    }
    const resource = { key: keyOf(event.object, kind, deps.clusterName), metadata: event.object.metadata };
    if (listing !== undefined && event.type === "DELETED") listing.delete(formatWorkKey(resource.key));
    else if (listing !== undefined) listing.set(formatWorkKey(resource.key), resource);
    else if (event.type === "DELETED") await noticeGone(resource.key, deps, signal);
    else await noticeResource(resource, deps, signal);
  }
}

function keyOf({ metadata }: LiveObject, { group, kind }: WatchedKind, cluster: string): WorkKey {
  return { cluster, group, kind, namespace: metadata.namespace ?? "", name: metadata.name };
}
