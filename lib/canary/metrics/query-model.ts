import type { CanaryMetric } from "../../api/canary.ts";
import { apexName, type Canary } from "../canary.ts";

/** The variables of a query: each field is a function of its template (reference canary 11.3). */
export interface QueryModel {
  readonly name: string;
  readonly namespace: string;
  readonly target: string;
  readonly service: string;
  readonly ingress: string;
  readonly route: string;
  readonly interval: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** @param interval the metric's, or the default; a template has none */
export function queryModel(canary: Canary, metric: CanaryMetric, interval: string): QueryModel {
  const { name, namespace, spec } = canary;
  const target = spec.targetRef.name;
  return {
    ...{ name, namespace, target, interval },
    service: apexName(canary),
    ingress: spec.ingressRef?.name ?? target,
    route: spec.routeRef?.name ?? target,
    variables: metric.templateVariables ?? {},
  };
}
