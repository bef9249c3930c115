import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Clusters, ServedCluster } from "../lib/gate/served-clusters.ts";
import { type Deliver, type NotifyDeps, notifyHandler } from "./notify.ts";

/** The adapters that a process needs to deliver notifications. */
export interface NotifyAdapters {
  /** The clusters that this process serves. */
  readonly clusters: Pick<Clusters, "get">;
  /** What delivers messages about objects of a cluster. */
  readonly deliverIn: (cluster: ServedCluster) => Deliver;
  readonly hide: NotifyDeps["hide"];
  readonly clock: Clock;
  readonly log: Log;
}

/** Puts together a process that delivers notifications. Nothing is read or opened before a message comes. */
export function composeNotify({
  clusters,
  deliverIn,
  hide,
  clock,
  log,
}: NotifyAdapters): ReturnType<typeof notifyHandler> {
  const delivering = new Map<string, Deliver>();
  return notifyHandler({
    ...{ hide, clock, log },
    async deliver(message, signal) {
      const cluster = clusters.get(message.cluster);
      if (cluster === undefined) {
        log.debug("notification of a cluster that is not served here", { cluster: message.cluster });
        return;
      }
      const deliver = delivering.get(cluster.id) ?? deliverIn(cluster);
      delivering.set(cluster.id, deliver);
      await deliver(message, signal);
    },
  });
}
