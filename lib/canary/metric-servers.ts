import type { CloudWatch } from "../core/ports/cloud-watch.ts";
import type { ExternalMetrics } from "../core/ports/external-metrics.ts";

/** Servers of metrics that Canaries do not reach by HTTP. */
export interface MetricServers {
  /** Absent where no AWS identity is lent. */
  readonly cloudWatch?: CloudWatch;
  /** Of the cluster of the Canary; absent where it is not asked. */
  readonly externalMetrics?: ExternalMetrics;
}
