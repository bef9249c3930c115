import type { Clock } from "../core/ports/clock.ts";
import { type MetricName, type Metrics, metricsByKind, metricUnits } from "../core/ports/metrics.ts";

const metricNamespace = "Sluice";

/**
 * Metrics as lines in CloudWatch's Embedded Metric Format, which Lambda's log stream turns into metrics without a call:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 * Each combination of dimensions is paid for as a metric of its own, so most have only the installation, and a few its kind. The rest are
 * properties, which only queries of the logs see. The limits are far away: 30 dimensions, 100 metrics and 1 MB a line.
 *
 * @param installation the dimension of all, so that two installations of an account and region do not add up: its table's name
 */
export function embeddedMetrics(write: (line: string) => void, clock: Clock, installation: string): Metrics {
  return {
    record({ cluster, kind, group, namespace, name }, measures, properties = {}) {
      const directives = [
        directive(["installation"], (metric) => metric in measures && !metricsByKind.has(metric)),
        directive(["installation", "kind"], (metric) => metric in measures && metricsByKind.has(metric)),
      ];
      const metadata = { Timestamp: clock.now(), CloudWatchMetrics: directives.flat() };
      const line = { ...properties, installation, cluster, group, kind, namespace, name, ...measures };
      write(`${JSON.stringify({ ...line, _aws: metadata })}\n`);
    },
  };
}

/** The metrics with these dimensions; nothing if there is none. */
function directive(dimensions: readonly string[], isWanted: (metric: MetricName) => boolean): readonly object[] {
  const names: readonly MetricName[] = Object.keys(metricUnits).filter(
    (name): name is MetricName => name in metricUnits,
  );
  const metrics = names.filter(isWanted).map((metric) => ({ Name: metric, Unit: metricUnits[metric] }));
  return metrics.length === 0 ? [] : [{ Namespace: metricNamespace, Dimensions: [dimensions], Metrics: metrics }];
}
