import type { CloudWatch } from "../core/ports/cloud-watch.ts";
import type { ExternalMetrics } from "../core/ports/external-metrics.ts";

/** The longest query that is rendered. */
export const maxQueryBytes = 262_144;

/** Writes a text by a template of Go that sees `.Values` alone. Throws a `MessageEngineError`, or the reason that `signal` was aborted with. */
export type TemplateEngine = (
  of: {
    /** The namespace of the Canary; the request counts as a turn of this tenant. */
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
  /** The external metrics of the Canary's cluster; absent if it is not asked for them. */
  readonly externalMetrics?: ExternalMetrics;
  /** Absent where no queries but plain ones are rendered. */
  readonly templates?: TemplateEngine;
}
