import type { FeatureGates } from "../lib/core/feature-gates.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Clusters } from "../lib/gate/served-clusters.ts";
import type { ProviderType } from "../lib/notify/admits.ts";
import { type Deliver, type DeliverDeps, deliverNotifications } from "../lib/notify/deliver.ts";
import { type NotifyDeps, notifyHandler } from "./notify.ts";

/** The adapters that a process needs to deliver notifications. */
export interface NotifyAdapters
  extends Pick<DeliverDeps, "commitStatusOf" | "noCrossNamespaceRefs" | "parts" | "serviceNamespaces"> {
  /** The clusters that this process serves. */
  readonly clusters: Pick<Clusters, "get">;
  /** The types of Provider for the objects of a cluster: an installation lends its identity by cluster. */
  readonly providersOf: (cluster: string) => Readonly<Record<string, ProviderType>>;
  readonly gates: Pick<FeatureGates, "ObjectLevelWorkloadIdentity">;
  readonly hide: NotifyDeps["hide"];
  readonly clock: Clock;
  readonly log: Log;
}

/** Puts together a process that delivers notifications. Nothing is read or opened before a message comes. */
export function composeNotify({ clusters, providersOf, hide, ...given }: NotifyAdapters) {
  const { clock, log } = given;
  const delivering = new Map<string, Deliver>();
  return notifyHandler({
    ...{ hide, clock, log },
    async deliver(notification, signal, reads) {
      const { cluster } = notification;
      if (clusters.get(cluster) === undefined) {
        log.debug("notification of a cluster that is not served here", { cluster });
        return;
      }
      const deliver =
        delivering.get(cluster) ?? deliverNotifications({ ...given, clusters, providers: providersOf(cluster) });
      delivering.set(cluster, deliver);
      await deliver(notification, signal, reads);
    },
  });
}
