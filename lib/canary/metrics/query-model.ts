import type { CanaryMetric } from "../../api/canary.ts";
import { apexName, type Canary } from "../canary.ts";

/** What a query is about: each field is a function of its template (reference canary 11.3). */
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

/** @param interval that of the metric, or the default where there is one; a template has none */
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
