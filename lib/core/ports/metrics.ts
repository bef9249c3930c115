import type { WorkKey } from "../work-key.ts";

/**
 * Every metric, with CloudWatch's word for its unit. docs/metrics.md says when each is written. Alarms rely on these names. Each is written
 * only if there is something to report, since CloudWatch bills a metric for every hour in which it has a value.
 */
export const metricUnits = {
  /** One run of an object that changed something, failed, or waits. */
  ReconcileDuration: "Milliseconds",
  /** Runs that failed. */
  ReconcilesFailed: "Count",
  /** Objects that are Stalled, or have not been Ready for {@link notReadyMs}: each sweep of their cluster tells how many there are now. */
  ObjectsNotReady: "Count",
  /** From the push of a revision until its objects are applied. */
  PushToApplied: "Milliseconds",
  /** Revisions that a source found at its interval although an event should have announced them. */
  EventsMissed: "Count",
  /**
   * Events that ingest did not accept: of an unknown type or shape, or from an account that the installation does not list. Deliveries to
   * the path of a Receiver with a Secret that it did not take.
   */
  EventsRefused: "Count",
  /** Objects that a sweep has woken again and again without a run beginning. */
  ReconcilesNotRun: "Count",
  /** Objects that were parked until their input changes: each is a dead letter too. */
  ReconcilesParked: "Count",
  /** Wake-ups that were not handled, since this installation may not write to the cluster. */
  ReconcilesRefused: "Count",
  /** Sweeps of a cluster that got no answer from it. */
  ClusterUnreachable: "Count",
  /** Hints of the admission webhook that were not sent: too many at a time, or the queue did not take them. The sweep finds the change. */
  HintsDropped: "Count",
  ObjectsApplied: "Count",
  ObjectsPruned: "Count",
  ArtifactLinksSkipped: "Count",
  /** Releases of Canaries, as they begin and end. */
  CanaryReleasesBegun: "Count",
  CanaryReleasesSucceeded: "Count",
  CanaryReleasesFailed: "Count",
} as const;
export type MetricName = keyof typeof metricUnits;

/** How long an object may be not Ready before {@link metricUnits ObjectsNotReady} counts it. */
export const notReadyMs = 30 * 60_000;

/** The metrics that are counted by kind; all others by installation alone (docs/maintainers/adr/0031-metrics-that-cost-nothing-at-rest.md). */
export const metricsByKind: ReadonlySet<MetricName> = new Set(["ReconcileDuration"]);

/** Values by the name of their metric, in its unit. */
export type Measures = Readonly<Partial<Record<MetricName, number>>>;

/** Numbers for dashboards and alarms. No code decides by them. */
export interface Metrics {
  /**
   * Adds a measurement of an object. It is counted by kind at most ({@link metricsByKind}); cluster, name and `properties` (short
   * texts without secrets) describe this one measurement. Never throws, never waits.
   */
  record(about: WorkKey, measures: Measures, properties?: Readonly<Record<string, string>>): void;
}
