import type { CloudWatch } from "../core/ports/cloud-watch.ts";
import type { ExternalMetrics } from "../core/ports/external-metrics.ts";

/** The longest query that is rendered. */
export const maxQueryBytes = 262_144;

/** Writes a text by a template of Go that sees `.Values` alone. Throws a `MessageEngineError`, or the reason that `signal` was aborted with. */
export type TemplateEngine = (
  of: {
    /** Of the Canary, whose turn it takes. */
    readonly namespace: string;
    readonly name: string;
    readonly template: string;
    readonly values: Readonly<Record<string, string>>;
  },
  signal: AbortSignal,
) => Promise<string>;

/** Servers of metrics that Canaries do not reach by HTTP. */
export interface MetricServers {
  /** Absent where no AWS identity is lent. */
  readonly cloudWatch?: CloudWatch;
  /** Of the cluster of the Canary; absent where it is not asked. */
  readonly externalMetrics?: ExternalMetrics;
  /** Absent where no queries but plain ones are rendered. */
  readonly templates?: TemplateEngine;
}
