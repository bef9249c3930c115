import { randomUUID } from "node:crypto";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { ClusterStates } from "../lib/core/ports/cluster-states.ts";
import type { HomeCluster } from "../lib/core/ports/home-and-target.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import { type ClusterLimits, clusterLimits } from "../lib/queue/cluster-limits.ts";
import { defaultMaxRuns } from "../lib/queue/cluster-rules.ts";
import { clusterViews } from "../lib/queue/cluster-views.ts";
import type { ClusterEntry } from "./settings/installation.ts";

interface LimitParts {
  readonly clusterStates: ClusterStates;
  readonly clusters: { get(id: string): { readonly home: Pick<HomeCluster, "get"> } | undefined };
  /** Runs of a cluster at the same time, in all processes. */
  readonly maxRuns: (cluster: string) => number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Every cluster has it, and every identity that may use a cluster gets an answer, if only a refusal. */
const anyObject = { group: "", version: "v1", kind: "Namespace", namespace: "", name: "kube-system" };

/** The breaker and the cap of the clusters that this process serves. */
export function limitsOf({ clusterStates, clusters, maxRuns, clock, log, metrics }: LimitParts): ClusterLimits {
  return clusterLimits({
    views: clusterViews({ states: clusterStates, clock, log }),
    clock,
    log,
    metrics,
    process: randomUUID(),
    maxRuns,
    ask: async (cluster, signal) => clusters.get(cluster)?.home.get(anyObject, signal),
    random: Math.random,
  });
}

/** As the installation says. */
export function maxRunsOf(entries: readonly Pick<ClusterEntry, "arn" | "maxRuns">[]): (cluster: string) => number {
  const byId = new Map(entries.map(({ arn, maxRuns }) => [arn, maxRuns]));
  return (cluster) => byId.get(cluster) ?? defaultMaxRuns;
}
