import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";
import { isList } from "./type-shape.ts";

const metricsAnnotation = "autoscaling.alpha.kubernetes.io/metrics";
const defaultUtilization = 80;
const behaviorAnnotation = "autoscaling.alpha.kubernetes.io/behavior";

/** A HorizontalPodAutoscaler between autoscaling/v1 and v2: what v1 cannot say travels in its annotations. */
export function convertAutoscaler(object: ApiObject, apiVersion: string): ApiObject {
  if (object["apiVersion"] === apiVersion) return object;
  return apiVersion === "autoscaling/v1" ? toV1(object) : toV2(object, apiVersion);
}

function toV1(object: ApiObject): ApiObject {
  const { spec, metadata } = object;
  if (!isJsonObject(spec)) return { ...object, apiVersion: "autoscaling/v1" };
  const { metrics, behavior, ...rest } = spec;
  const list: readonly Json[] = Array.isArray(metrics) ? metrics : [];
  const cpu = list.find((metric) => utilizationOf(metric) !== undefined);
  const others = list.filter((metric) => metric !== cpu);
  const utilization = cpu === undefined ? undefined : utilizationOf(cpu);
  return {
    ...object,
    apiVersion: "autoscaling/v1",
    ...metadataWith(metadata, {
      ...(others.length === 0 ? {} : { [metricsAnnotation]: JSON.stringify(others) }),
      ...(behavior === undefined || behavior === null ? {} : { [behaviorAnnotation]: JSON.stringify(behavior) }),
    }),
    spec: { ...rest, ...(utilization === undefined ? {} : { targetCPUUtilizationPercentage: utilization }) },
  };
}

function toV2(object: ApiObject, apiVersion: string): ApiObject {
  const { spec, metadata } = object;
  if (!isJsonObject(spec)) return { ...object, apiVersion };
  const { targetCPUUtilizationPercentage: target, ...rest } = spec;
  const annotations = annotationsOf(metadata);
  const { [metricsAnnotation]: metricsText, [behaviorAnnotation]: behaviorText, ...kept } = annotations;
  const others = parsed(metricsText);
  const metrics: readonly Json[] = [
    ...(isList(others) ? others : []),
    ...(typeof target === "number" ? [cpuMetric(target)] : []),
  ];
  const behavior = parsed(behaviorText);
  return {
    ...object,
    apiVersion,
    ...(isJsonObject(metadata) ? { metadata: withAnnotations(metadata, kept) } : {}),
    spec: {
      ...rest,
      // A v2 object is never without metrics, also while fields are removed by a manager that wrote in v2.
      metrics: metrics.length === 0 ? [cpuMetric(defaultUtilization)] : metrics,
      ...(behavior === undefined ? {} : { behavior }),
    },
  };
}

function cpuMetric(averageUtilization: number): Json {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

/** The percentage of a metric that v1 can say: average utilization of CPU. */
function utilizationOf(metric: Json): number | undefined {
  const resource = isJsonObject(metric) ? metric["resource"] : undefined;
  if (!isJsonObject(resource) || resource["name"] !== "cpu" || !isJsonObject(resource["target"])) return undefined;
  const { averageUtilization } = resource["target"];
  return typeof averageUtilization === "number" ? averageUtilization : undefined;
}

function metadataWith(metadata: Json | undefined, annotations: JsonObject): { readonly metadata?: Json } {
  if (!isJsonObject(metadata)) return {};
  if (Object.keys(annotations).length === 0) return { metadata };
  return { metadata: withAnnotations(metadata, { ...annotationsOf(metadata), ...annotations }) };
}

function withAnnotations(metadata: JsonObject, annotations: JsonObject): JsonObject {
  const { annotations: _, ...rest } = metadata;
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}

function annotationsOf(metadata: Json | undefined): JsonObject {
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  return isJsonObject(annotations) ? annotations : {};
}

function parsed(text: Json | undefined): Json | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) || isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
