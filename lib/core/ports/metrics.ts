import type { WorkKey } from "../work-key.ts";

/** Every metric, with CloudWatch's word for its unit. docs/metrics.md says when each is written; alarms go by these names. */
export const metricUnits = {
  /** One run of an object, failed or not. */
  ReconcileDuration: "Milliseconds",
  /** 1 for a run that failed, 0 for one that did not: the sum says how many, the average how often. */
  ReconcilesFailed: "Count",
  /** Objects that were given up until their input changes: each is a dead letter too. */
  ReconcilesParked: "Count",
  /** Wake-ups that were not followed, since this installation may not write to the cluster. */
  ReconcilesRefused: "Count",
  ObjectsApplied: "Count",
  ObjectsPruned: "Count",
  ArtifactLinksSkipped: "Count",
} as const;
export type MetricName = keyof typeof metricUnits;

/** Values by the name of their metric, in its unit. */
export type Measures = Readonly<Partial<Record<MetricName, number>>>;

/** Numbers for dashboards and alarms. Nothing is ever decided by them. */
export interface Metrics {
  /**
   * Adds what was measured about an object. Counted by its cluster and kind alone; its name, and `properties` (short texts
   * without secrets), only tell more of this one measurement. Never throws, never waits.
   */
  record(about: WorkKey, measures: Measures, properties?: Readonly<Record<string, string>>): void;
}
