import type { Clock } from "../../core/ports/clock.ts";
import { type Metrics, metricUnits } from "../../core/ports/metrics.ts";

const metricNamespace = "Sluice";

/**
 * Metrics as lines in CloudWatch's Embedded Metric Format, which Lambda's log stream turns into metrics without a call:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 * Each combination of dimensions is paid for as a metric of its own, so there are two; the rest are properties, which only
 * queries of the logs see. Far below its limits: 30 dimensions, 100 metrics and 1 MB a line.
 */
export function embeddedMetrics(write: (line: string) => void, clock: Clock): Metrics {
  return {
    record({ cluster, kind, group, namespace, name }, measures, properties = {}) {
      const metrics = Object.entries(metricUnits).flatMap(([metric, unit]) =>
        metric in measures ? [{ Name: metric, Unit: unit }] : [],
      );
      const directive = { Namespace: metricNamespace, Dimensions: [["cluster", "kind"]], Metrics: metrics };
      const metadata = { Timestamp: clock.now(), CloudWatchMetrics: [directive] };
      const line = { ...properties, cluster, group, kind, namespace, name, ...measures };
      write(`${JSON.stringify({ ...line, _aws: metadata })}\n`);
    },
  };
}
