import { Metric, type MetricOptions, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";
import { type MetricName, metricUnits } from "../../lib/core/ports/metrics.ts";

export type { MetricName };

/** The metrics of an installation (docs/metrics.md). */
export abstract class WithMetrics extends Construct {
  abstract readonly table: ITable;

  /**
   * A metric that the functions write, over the whole installation. Default statistic: the sum of what is counted, p95 of durations.
   * Default period: 5 minutes.
   */
  metric(metricName: MetricName, options: MetricOptions = {}): Metric {
    return new Metric({
      namespace: "Sluice",
      metricName,
      dimensionsMap: { installation: this.table.tableName },
      statistic: metricUnits[metricName] === "Count" ? Stats.SUM : Stats.p(95),
      ...options,
    });
  }

  /** From a push to its objects in the cluster, in milliseconds. Default: p95 over 5 minutes. */
  metricPushToApplied(options?: MetricOptions): Metric {
    return this.metric("PushToApplied", options);
  }

  /** Runs that failed. Default: the sum over 5 minutes. */
  metricReconcilesFailed(options?: MetricOptions): Metric {
    return this.metric("ReconcilesFailed", options);
  }

  /** Objects that were parked after runs that did not end. Default: the sum over 5 minutes. */
  metricReconcilesParked(options?: MetricOptions): Metric {
    return this.metric("ReconcilesParked", options);
  }

  /** Runs that ended with their object Stalled or not Ready for long. Default: the sum over 5 minutes. */
  metricObjectsNotReady(options?: MetricOptions): Metric {
    return this.metric("ObjectsNotReady", options);
  }

  /** Changes that a source found at its interval and no event had announced. Default: the sum over 5 minutes. */
  metricEventsMissed(options?: MetricOptions): Metric {
    return this.metric("EventsMissed", options);
  }
}
