import type { MetricTemplateSpec } from "../../../api/canary.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import type { CloudWatch } from "../../../core/ports/cloud-watch.ts";
import type { ExternalMetrics } from "../../../core/ports/external-metrics.ts";
import type { Http } from "../../../core/ports/http.ts";
import type { StepDeps } from "../../canary-deps.ts";

/** A server of metrics, as one provider of a MetricTemplate speaks to it. Each method throws a {@link MetricFault} in Flagger's words. */
export interface MetricServer {
  /** The value of the query. */
  query(query: string): Promise<number>;
  /** Asks whether the server answers. */
  probe(): Promise<void>;
}

/** Why there is no value. The text is Flagger's, and has no value of a Secret in it. */
export class MetricFault extends Error {
  override readonly name = "MetricFault";
  /** Whether the server answered that it has no values. */
  readonly isNoValues: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isNoValues?: boolean } = {}) {
    super(message, options);
    this.isNoValues = options.isNoValues === true;
  }
}

/** Flagger's `no values found`. @param where what stands before it, with its colon */
export function noValues(where = ""): MetricFault {
  return new MetricFault(`${where}no values found`, { isNoValues: true });
}

/** The same fault with words before it. Answers any other error unchanged. */
export function inFront(words: string, error: unknown): unknown {
  if (!(error instanceof MetricFault)) return error;
  return new MetricFault(`${words}${error.message}`, { cause: error, isNoValues: error.isNoValues });
}

/** The parts that requests to servers use. */
export interface ServerParts extends Pick<StepDeps, "cluster" | "log" | "settings" | "signal"> {
  readonly http: Http;
  readonly clock: Pick<Clock, "now">;
  /** Waits; rejects with the signal's reason. */
  readonly sleep: Clock["sleep"];
  /** Absent where no AWS identity is lent. */
  readonly cloudWatch?: CloudWatch;
  /** The external metrics of the Canary's cluster; absent if it is not asked for them. */
  readonly externalMetrics?: ExternalMetrics;
  /** Whose rights a step has, as Kubernetes names the user; absent for our own. */
  readonly accountUser?: string;
}

/** The parts from which a server is made. */
export interface ServerInput {
  readonly provider: MetricTemplateSpec["provider"];
  /** The namespace of the object that names the provider. */
  readonly namespace: string;
  /** The Secret that the provider names; absent if it names none. */
  readonly secret?: ReadonlyMap<string, string>;
  /** `interval` of the metric; empty if it has none. */
  readonly interval: string;
  readonly parts: ServerParts;
}

/** Throws a {@link MetricFault} for a missing part of the provider, its Secret or the interval. */
export type MakeServer = (input: ServerInput) => MetricServer;

/**
 * Throws a {@link MetricFault} for a query that reads outside the namespace of its MetricTemplate, if the installation forbids references
 * to other namespaces: tenants write the templates and Canaries, and the account of a step may have more rights than they do. Flagger reads
 * it.
 */
export function refuseOtherNamespace(what: string, namespace: string, { namespace: own, parts }: ServerInput): void {
  if (!parts.settings.noCrossNamespaceRefs || namespace === own) return;
  throw new MetricFault(`can't access ${what}, cross-namespace references are blocked`);
}
