import type { ApiObject } from "../core/api-object.ts";
import { formatJson, isJsonObject, type Json, type JsonObject, parseJson } from "../core/json.ts";
import { isList } from "./type-shape.ts";

const prefix = "autoscaling.alpha.kubernetes.io/";
/** The annotations in which a v1 object carries what only v2 has fields for. */
const annotation = {
  metrics: `${prefix}metrics`,
  behavior: `${prefix}behavior`,
  conditions: `${prefix}conditions`,
  currentMetrics: `${prefix}current-metrics`,
} as const;
const defaultUtilization = 80;

/** A HorizontalPodAutoscaler between autoscaling/v1 and v2: what v1 cannot say travels in its annotations. */
export function convertAutoscaler(object: ApiObject, apiVersion: string): ApiObject {
  if (object["apiVersion"] === apiVersion) return object;
  return apiVersion === "autoscaling/v1" ? toV1(object) : toV2(object, apiVersion);
}

function toV1(object: ApiObject): ApiObject {
  const { metrics, behavior, ...spec } = objectAt(object, "spec");
  const { currentMetrics, conditions, ...status } = objectAt(object, "status");
  const wanted = split(metrics, "target");
  const current = split(currentMetrics, "current");
  const annotations = {
    ...objectAt(objectAt(object, "metadata"), "annotations"),
    ...carried(annotation.metrics, wanted.others),
    ...carried(annotation.behavior, behavior),
    ...carried(annotation.conditions, conditions),
    ...carried(annotation.currentMetrics, current.others),
  };
  return {
    ...withParts(object, "autoscaling/v1", annotations),
    ...part(object, "spec", { ...spec, ...field("targetCPUUtilizationPercentage", wanted.utilization) }),
    ...part(object, "status", { ...status, ...field("currentCPUUtilizationPercentage", current.utilization) }),
  };
}

function toV2(object: ApiObject, apiVersion: string): ApiObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = objectAt(object, "spec");
  const { currentCPUUtilizationPercentage: used, ...status } = objectAt(object, "status");
  const {
    [annotation.metrics]: metricsText,
    [annotation.behavior]: behaviorText,
    [annotation.conditions]: conditionsText,
    [annotation.currentMetrics]: currentText,
    ...annotations
  } = objectAt(objectAt(object, "metadata"), "annotations");
  const metrics = [...listIn(metricsText), ...cpuMetrics("target", target)];
  const currentMetrics = [...listIn(currentText), ...cpuMetrics("current", used)];
  // A v2 object is never without metrics, also while fields are removed by a manager that wrote in v2.
  const wanted = metrics.length === 0 ? cpuMetrics("target", defaultUtilization) : metrics;
  return {
    ...withParts(object, apiVersion, annotations),
    ...part(object, "spec", { ...spec, metrics: wanted, ...field("behavior", parsed(behaviorText)) }),
    ...part(object, "status", {
      ...status,
      ...field("conditions", parsed(conditionsText)),
      ...(currentMetrics.length === 0 ? {} : { currentMetrics }),
    }),
  };
}

/** The one metric that v1 has a field for, average utilization of CPU, and all others. */
function split(
  metrics: Json | undefined,
  side: "target" | "current",
): { readonly utilization?: number; readonly others?: Json } {
  const list = isList(metrics) ? metrics : [];
  const others = list.filter((metric) => utilizationOf(metric, side) === undefined);
  const utilization = list.map((metric) => utilizationOf(metric, side)).find((percent) => percent !== undefined);
  return { ...(utilization === undefined ? {} : { utilization }), ...(others.length === 0 ? {} : { others }) };
}

function utilizationOf(metric: Json, side: "target" | "current"): number | undefined {
  const resource = isJsonObject(metric) ? objectAt(metric, "resource") : {};
  const { averageUtilization } = objectAt(resource, side);
  return resource["name"] === "cpu" && typeof averageUtilization === "number" ? averageUtilization : undefined;
}

function cpuMetrics(side: "target" | "current", averageUtilization: Json | undefined): readonly Json[] {
  if (typeof averageUtilization !== "number") return [];
  const value = side === "target" ? { type: "Utilization", averageUtilization } : { averageUtilization };
  return [{ type: "Resource", resource: { name: "cpu", [side]: value } }];
}

function withParts(object: ApiObject, apiVersion: string, annotations: JsonObject): ApiObject {
  if (!isJsonObject(object["metadata"])) return { ...object, apiVersion };
  const { annotations: _, ...metadata } = object["metadata"];
  const isEmpty = Object.keys(annotations).length === 0;
  return { ...object, apiVersion, metadata: isEmpty ? metadata : { ...metadata, annotations } };
}

function part(object: ApiObject, name: "spec" | "status", value: JsonObject): JsonObject {
  return isJsonObject(object[name]) ? { [name]: value } : {};
}

function field(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

function carried(name: string, value: Json | undefined): JsonObject {
  return value === undefined || value === null ? {} : { [name]: formatJson(value) };
}

function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

function listIn(text: Json | undefined): readonly Json[] {
  const value = parsed(text);
  return isList(value) ? value : [];
}

function parsed(text: Json | undefined): Json | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = parseJson(text);
    return Array.isArray(value) || isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
