import type { LiveObject } from "../core/manifest.ts";
import { subject, type VersionedRef } from "../core/object-ref.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";

/** A batch of slow deliveries looks again after this time: an Alert may be suspended, a Secret may rotate. */
export const sharedReadMs = 1_000;

/**
 * The reads of a batch of notifications, all of which were queued before the first read: an object is read once for all of them, and again
 * after {@link sharedReadMs}. A read that fails is not shared.
 */
export interface SharedReads {
  /** This cluster, whose `get` is shared. */
  of(home: HomeCluster): HomeCluster;
}

/** For one batch, whose objects are few: its Alerts, their Providers and the Secrets of those. */
export function sharedReads(clock: Pick<Clock, "monotonic">): SharedReads {
  const clusters = new Map<HomeCluster, HomeCluster>();
  return {
    of(home) {
      const shared = clusters.get(home) ?? sharing(home, clock);
      clusters.set(home, shared);
      return shared;
    },
  };
}

function sharing(home: HomeCluster, clock: Pick<Clock, "monotonic">): HomeCluster {
  const reads = new Map<string, { readonly at: number; readonly found: Promise<LiveObject | undefined> }>();
  return {
    ...home,
    get(ref: VersionedRef, signal) {
      const key = `${ref.group}/${ref.version}/${subject(ref)}`;
      const known = reads.get(key);
      if (known !== undefined && clock.monotonic() - known.at < sharedReadMs) return known.found;
      const read = { at: clock.monotonic(), found: home.get(ref, signal) };
      reads.set(key, read);
      read.found.catch(() => {
        if (reads.get(key) === read) reads.delete(key);
      });
      return read.found;
    },
  };
}
