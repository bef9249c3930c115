import type { ArtifactRecords } from "../core/ports/artifact-records.ts";
import type { ArtifactStore } from "../core/ports/artifact-store.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import type { Log } from "../core/ports/log.ts";
import type { Metrics } from "../core/ports/metrics.ts";
import type { ReconcileRequests } from "../core/ports/reconcile-requests.ts";
import type { Subscriptions } from "../core/ports/subscriptions.ts";
import type { RunTiming } from "./interval.ts";

/** The dependencies of the flow of every kind. */
export interface FlowDeps {
  /** Where the objects of this installation live. */
  readonly home: HomeCluster;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly subscriptions: Subscriptions;
  readonly requests: ReconcileRequests;
  readonly artifacts: ArtifactStore;
  readonly records: ArtifactRecords;
  /** A number from 0 to 1 that spreads the intervals of many objects; `Math.random` outside tests. */
  readonly jitter: () => number;
  readonly timing: RunTiming;
}
