import { servedKind } from "../lib/api/kinds/declaration.ts";
import type { FeatureGates } from "../lib/core/feature-gates.ts";
import type { ClusterStates } from "../lib/core/ports/cluster-states.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import type { ObservedResources } from "../lib/core/ports/observed-resources.ts";
import type { ReconcileHints, ReconcileRequests } from "../lib/core/ports/reconcile-requests.ts";
import type { Subscriptions } from "../lib/core/ports/subscriptions.ts";
import type { SweepLeases } from "../lib/core/ports/sweep-leases.ts";
import type { DeadLetters, LookRequests } from "../lib/core/ports/wake-ups.ts";
import type { Kind } from "../lib/flows/kinds/kind.ts";
import { markReadiness } from "../lib/flows/mark-readiness.ts";
import type { Clusters, ServedCluster } from "../lib/gate/served-clusters.ts";
import type { ClusterLimits } from "../lib/queue/cluster-limits.ts";
import { configKinds, externalArtifactKinds, type ObservedKind, targetKinds } from "../lib/queue/observed-kinds.ts";
import type { QueueDeps } from "../lib/queue/queue-deps.ts";
import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { limitsOf } from "./cluster-limits.ts";
import { lookAtObject } from "./look-at-object.ts";
import { type Flows, flowsOfClusters } from "./make-flows.ts";
import { type ReconcileDeps, reconcileHandler } from "./reconcile.ts";
import { runnerDeps } from "./runner-deps.ts";
import { clusterSweep, type SweepCluster } from "./sweep-cluster.ts";

/** The adapters that a process needs to reconcile: those of AWS in a function, those of this machine in `sluice local`. */
export interface ReconcileAdapters {
  readonly queue: QueueDeps;
  readonly stores: {
    readonly clusterStates: ClusterStates;
    readonly observed: ObservedResources;
    readonly subscriptions: Subscriptions;
    readonly sweepLeases: SweepLeases;
  };
  readonly deadLetters: DeadLetters;
  readonly looks: LookRequests;
  readonly extendVisibility: ReconcileDeps["extendVisibility"];
  readonly metrics: Metrics;
  /** The clusters that this process serves. */
  readonly clusters: Pick<Clusters, "get">;
  /** Runs of a cluster at the same time, in all processes. */
  readonly maxRuns: (cluster: string) => number;
  /** The kinds that are reconciled. */
  readonly kinds: readonly Kind[];
  /** The ConfigMaps and Secrets whose changes start runs of those that subscribe to them; undefined for none. */
  readonly configSelector: string | undefined;
  readonly gates: FeatureGates;
  /** The flows for the objects of a cluster. */
  readonly flows: (cluster: ServedCluster, requests: ReconcileRequests) => Flows;
}

/** What a process that reconciles is made of. */
export interface Reconciling {
  /** Takes a batch of the queue: wake-ups, sweeps and looks. */
  readonly handler: ReturnType<typeof reconcileHandler>;
  readonly requests: ReconcileRequests & ReconcileHints;
  readonly limits: ClusterLimits;
  readonly sweepCluster: SweepCluster;
  /** The kinds that a sweep, a look and a watch follow: those that are reconciled, and those that these read. */
  readonly observedKinds: readonly ObservedKind[];
}

/** Puts together a process that reconciles. Nothing is read or opened before a batch comes. */
export function composeReconcile(adapters: ReconcileAdapters): Reconciling {
  const { queue, stores, deadLetters, looks, extendVisibility, metrics, clusters, kinds } = adapters;
  const { clock, log } = queue;
  const { observed, subscriptions, sweepLeases } = stores;
  const requests = reconcileRequests(queue);
  const limits = limitsOf({ ...queue, ...stores, clusters, metrics, maxRuns: adapters.maxRuns });
  const observedKinds = [
    ...kinds.map(servedKind),
    ...configKinds(adapters.configSelector, { subscriptions, requests }),
    ...externalArtifactKinds(adapters.gates, { subscriptions, requests }),
    ...targetKinds(kinds, { subscriptions, requests }),
  ];
  const observing = { clusters, clock, limits, log, metrics, observed, requests, subscriptions, kinds: observedKinds };
  const sweepCluster = clusterSweep({ ...observing, sweepLeases });
  const flowsOf = (cluster: ServedCluster): Flows => {
    const flows = adapters.flows(cluster, requests);
    return (key) => {
      const flow = flows(key);
      return flow && markReadiness(flow, { observed, clock, log });
    };
  };
  const handler = reconcileHandler({
    ...runnerDeps(queue, { clusters, deadLetters, metrics, kinds }),
    ...{ clusters, limits, metrics, extendVisibility, sweepCluster },
    flowOf: flowsOfClusters(clusters, flowsOf),
    lookAtObject: lookAtObject({ ...observing, looks }),
  });
  return { handler, requests, limits, sweepCluster, observedKinds };
}
