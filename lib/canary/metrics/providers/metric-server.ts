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
  /** Whether the server has answered that there are no values. */
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

/** What servers are asked with. */
export interface ServerParts extends Pick<StepDeps, "cluster" | "log" | "settings" | "signal"> {
  readonly http: Http;
  readonly clock: Pick<Clock, "now">;
  /** Waits; rejects with the signal's reason. */
  readonly sleep: Clock["sleep"];
  /** Absent where no AWS identity is lent. */
  readonly cloudWatch?: CloudWatch;
  /** Of the cluster of the Canary; absent where it is not asked. */
  readonly externalMetrics?: ExternalMetrics;
  /** Whose rights a step has, as Kubernetes names the user; absent for our own. */
  readonly accountUser?: string;
}

/** What a server is made of. */
export interface ServerInput {
  readonly provider: MetricTemplateSpec["provider"];
  /** Of the object that names the provider. */
  readonly namespace: string;
  /** The Secret that the provider names; absent if it names none. */
  readonly secret?: ReadonlyMap<string, string>;
  /** `interval` of the metric; empty if it has none. */
  readonly interval: string;
  readonly parts: ServerParts;
}

/** Throws a {@link MetricFault} for what the provider, its Secret or the interval lack. */
export type MakeServer = (input: ServerInput) => MetricServer;

/**
 * Throws a {@link MetricFault} for what a query reads in another namespace than its MetricTemplate's, where the installation says that objects
 * name nothing there: tenants write the templates and Canaries, and the account of a step may have more rights than they. Flagger reads it.
 */
export function refuseOtherNamespace(what: string, namespace: string, { namespace: own, parts }: ServerInput): void {
  if (!parts.settings.noCrossNamespaceRefs || namespace === own) return;
  throw new MetricFault(`can't access ${what}, cross-namespace references are blocked`);
}
