import type { Clock } from "../../core/ports/clock.ts";
import type { Http } from "../../core/ports/http.ts";
import type { StepDeps } from "../canary-deps.ts";
import type { MetricServers } from "../metric-servers.ts";

/** What the metric checks need in addition to what each part of a step needs. */
export interface MetricParts extends MetricServers {
  /** Reaches what a Canary of this namespace names. */
  readonly http: Http;
  /** Reaches what a MetricTemplate of this other namespace names; as `http` if absent. */
  readonly httpOf?: (namespace: string) => Http;
  /** Whose rights a step has, as Kubernetes names the user; absent for our own. */
  readonly accountUser?: string;
  /** Waits; rejects with the signal's reason. */
  readonly sleep: Clock["sleep"];
  /** Told of each value of a metric; a duration is in seconds. */
  readonly measured?: (metric: string, value: number) => void;
}

/** The parts of the metric checks. */
export type MetricDeps = StepDeps & MetricParts;
