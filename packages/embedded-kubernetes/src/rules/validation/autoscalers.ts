import { forbidden, invalidValue, notSupported, required } from "../../core/field-errors.ts";
import { goStruct } from "../../core/go-value.ts";
import type { JsonObject } from "../../core/json.ts";
import { isList, itemsOf, numberOf, objectOf, objectsOf, textOf } from "../../core/json-fields.ts";
import { parseQuantity } from "../../core/quantity.ts";
import {
  type Errors,
  each,
  named,
  none,
  nonNegative,
  notAbove100Percent,
  oneOf,
  positiveIntOrPercent,
} from "./checks.ts";
import { pathSegmentName } from "./name-rules.ts";
import { selectorErrors } from "./selectors.ts";

const sources = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const maxPeriodSeconds = 1800;
const maxWindowSeconds = 3600;

/** `validateHorizontalPodAutoscalerSpec`, of autoscaling/v1 and v2 alike. */
export function autoscalerSpecErrors(spec: JsonObject): Errors {
  const min = numberOf(spec, "minReplicas");
  const max = numberOf(spec, "maxReplicas") ?? 0;
  return [
    ...(min !== undefined && min < 1
      ? [invalidValue("spec.minReplicas", min, "must be greater than or equal to 1")]
      : none),
    ...(max < 1 ? [invalidValue("spec.maxReplicas", max, "must be greater than 0")] : none),
    ...(min !== undefined && max < min
      ? [invalidValue("spec.maxReplicas", max, "must be greater than or equal to `minReplicas`")]
      : none),
    ...referenceErrors(objectOf(spec, "scaleTargetRef"), "spec.scaleTargetRef", true),
    ...each(objectsOf(spec, "metrics"), "spec.metrics", metricErrors),
    ...behaviorErrors(objectOf(spec, "behavior")),
  ];
}

function referenceErrors(ref: JsonObject | undefined, path: string, needsGroup: boolean): Errors {
  const [kind, name, apiVersion] = [textOf(ref, "kind"), textOf(ref, "name"), textOf(ref, "apiVersion")];
  return [
    ...(kind === "" ? [required(`${path}.kind`)] : named(`${path}.kind`, kind, pathSegmentName)),
    ...(name === "" ? [required(`${path}.name`)] : named(`${path}.name`, name, pathSegmentName)),
    ...apiVersionErrors(apiVersion, `${path}.apiVersion`, needsGroup && kind !== "ReplicationController"),
  ];
}

function apiVersionErrors(apiVersion: string, path: string, needsGroup: boolean): Errors {
  const slashes = apiVersion.split("/").length - 1;
  if (slashes > 1) return [invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  return needsGroup && slashes === 0 ? [invalidValue(path, apiVersion, "apiVersion must specify API group")] : none;
}

function metricErrors(metric: JsonObject, path: string): Errors {
  const type = textOf(metric, "type");
  const expected = type === "" ? "" : type.charAt(0).toLowerCase() + type.slice(1);
  const present = ["object", "external", "pods", "resource", "containerResource"].filter(
    (field) => objectOf(metric, field) !== undefined,
  );
  const [first] = present;
  return [
    ...(type === "" ? [required(`${path}.type`, "must specify a metric source type")] : none),
    ...(sources.includes(type) ? none : [notSupported(`${path}.type`, type, sources)]),
    ...(first === undefined ? none : sourceErrors(first, objectOf(metric, first) ?? {}, `${path}.${first}`)),
    ...(sources.includes(type) ? none : [notSupported(`${path}.type`, type, sources)]),
    ...(present.includes(expected) || !sources.includes(type)
      ? none
      : [required(`${path}.${expected}`, "must populate information for the given metric source")]),
    ...present
      .filter((field) => present.length > 1 && field !== expected)
      .map((field) => forbidden(`${path}.${field}`, "must populate the given metric source only")),
  ];
}

function sourceErrors(field: string, source: JsonObject, path: string): Errors {
  const target = objectOf(source, "target");
  const targets =
    target === undefined
      ? [required(`${path}.target`, "must specify a metric target")]
      : targetErrors(target, `${path}.target`);
  switch (field) {
    case "resource":
    case "containerResource":
      return [
        ...(textOf(source, "name") === "" ? [required(`${path}.name`, "must specify a resource name")] : none),
        ...(field === "containerResource" && textOf(source, "container") === ""
          ? [required(`${path}.container`, "must specify a container name")]
          : none),
        ...targets,
        ...utilizationErrors(target, path),
      ];
    case "object":
      return [
        ...referenceErrors(objectOf(source, "describedObject"), `${path}.describedObject`, false),
        ...metricNameErrors(source, path),
        ...targets,
      ];
    default:
      return [...metricNameErrors(source, path), ...targets];
  }
}

function metricNameErrors(source: JsonObject, path: string): Errors {
  const name = textOf(objectOf(source, "metric"), "name");
  return name === ""
    ? [required(`${path}.metric.name`, "must specify a metric name")]
    : named(`${path}.metric.name`, name, pathSegmentName);
}

function targetErrors(target: JsonObject, path: string): Errors {
  const type = textOf(target, "type");
  const utilization = numberOf(target, "averageUtilization");
  return [
    ...(type === "" ? [required(`${path}.type`, "must specify a metric target type")] : none),
    ...(["Utilization", "Value", "AverageValue"].includes(type)
      ? none
      : [invalidValue(`${path}.type`, type, "must be either Utilization, Value, or AverageValue")]),
    ...["value", "averageValue"].flatMap((field) =>
      isPositive(target, field) ? none : [invalidValue(`${path}.${field}`, target[field], "must be positive")],
    ),
    ...(utilization !== undefined && utilization < 1
      ? [invalidValue(`${path}.averageUtilization`, utilization, "must be greater than 0")]
      : none),
  ];
}

function isPositive(target: JsonObject, field: string): boolean {
  const value = target[field];
  return (typeof value !== "string" && typeof value !== "number") || parseQuantity(value).nanos > 0n;
}

function utilizationErrors(target: JsonObject | undefined, path: string): Errors {
  if (target === undefined) return none;
  const hasUtilization = numberOf(target, "averageUtilization") !== undefined;
  const hasValue = target["averageValue"] !== undefined;
  if (!hasUtilization && !hasValue) {
    const text = "must set either a target raw value or a target utilization";
    return [required(`${path}.target.averageUtilization`, text)];
  }
  return hasUtilization && hasValue
    ? [forbidden(`${path}.target.averageValue`, "may not set both a target raw value and a target utilization")]
    : none;
}

function behaviorErrors(behavior: JsonObject | undefined): Errors {
  return ["scaleUp", "scaleDown"].flatMap((field) => {
    const rules = objectOf(behavior, field);
    return rules === undefined ? none : scalingErrors(rules, `spec.behavior.${field}`);
  });
}

function scalingErrors(rules: JsonObject, path: string): Errors {
  const window = numberOf(rules, "stabilizationWindowSeconds") ?? 0;
  const select = textOf(rules, "selectPolicy");
  return [
    ...nonNegative(rules, "stabilizationWindowSeconds", path),
    ...(window > maxWindowSeconds
      ? [
          invalidValue(
            `${path}.stabilizationWindowSeconds`,
            window,
            `must be less than or equal to ${maxWindowSeconds}`,
          ),
        ]
      : none),
    ...(select === "" ? none : oneOf(`${path}.selectPolicy`, select, ["Disabled", "Max", "Min"])),
    ...(itemsOf(rules, "policies").length === 0
      ? [required(`${path}.policies`, "must specify at least one Policy")]
      : each(objectsOf(rules, "policies"), `${path}.policies`, scalingPolicyErrors)),
  ];
}

function scalingPolicyErrors(policy: JsonObject, path: string): Errors {
  const type = textOf(policy, "type");
  const value = numberOf(policy, "value") ?? 0;
  const period = numberOf(policy, "periodSeconds") ?? 0;
  return [
    ...(["Percent", "Pods"].includes(type) ? none : [notSupported(`${path}.type`, type, ["Percent", "Pods"])]),
    ...(value <= 0 ? [invalidValue(`${path}.value`, value, "must be greater than zero")] : none),
    ...(period <= 0 ? [invalidValue(`${path}.periodSeconds`, period, "must be greater than zero")] : none),
    ...(period > maxPeriodSeconds
      ? [invalidValue(`${path}.periodSeconds`, period, `must be less than or equal to ${maxPeriodSeconds}`)]
      : none),
  ];
}

export function disruptionBudgetSpecErrors(spec: JsonObject): Errors {
  const { minAvailable, maxUnavailable } = spec;
  const policy = textOf(spec, "unhealthyPodEvictionPolicy");
  const isBoth = isSet(minAvailable) && isSet(maxUnavailable);
  const printed = {
    MinAvailable: minAvailable ?? null,
    Selector: objectOf(spec, "selector") ?? null,
    MaxUnavailable: maxUnavailable ?? null,
    UnhealthyPodEvictionPolicy: policy === "" ? null : policy,
  };
  return [
    ...(isBoth
      ? [invalidValue("spec", goStruct(printed), "minAvailable and maxUnavailable cannot be both set")]
      : none),
    ...["minAvailable", "maxUnavailable"].flatMap((field) =>
      isSet(spec[field])
        ? [...positiveIntOrPercent(`spec.${field}`, spec[field]), ...notAbove100Percent(`spec.${field}`, spec[field])]
        : none,
    ),
    ...selectorErrors(objectOf(spec, "selector"), "spec.selector"),
    ...(policy === "" || ["IfHealthyBudget", "AlwaysAllow"].includes(policy)
      ? none
      : [notSupported("spec.unhealthyPodEvictionPolicy", policy, ["AlwaysAllow", "IfHealthyBudget"])]),
  ];
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && !isList(value);
}
