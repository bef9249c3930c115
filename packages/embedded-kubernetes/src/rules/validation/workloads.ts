import { forbidden, invalidValue, notSupported, required } from "../../core/field-errors.ts";
import { goStruct } from "../../core/go-value.ts";
import { canonicalJson, type Json, type JsonObject } from "../../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf, without } from "../../core/json-fields.ts";
import {
  type Errors,
  isZero,
  named,
  none,
  nonNegative,
  notAbove100Percent,
  oneOf,
  positiveIntOrPercent,
} from "./checks.ts";
import { dnsLabel } from "./name-rules.ts";
import { podTemplateErrors } from "./pod-spec.ts";
import { isEmptySelector, selectorErrors, selectorMatches } from "./selectors.ts";

/** The specs of apps/v1, in the order of `pkg/apis/apps/validation`. */
export function deploymentSpecErrors(spec: JsonObject): Errors {
  return [
    ...nonNegative(spec, "replicas", "spec"),
    ...requiredSelector(spec, "empty selector is invalid for deployment"),
    ...templateErrors(spec),
    ...deploymentStrategyErrors(objectOf(spec, "strategy") ?? {}),
    ...nonNegative(spec, "minReadySeconds", "spec"),
    ...nonNegative(spec, "revisionHistoryLimit", "spec"),
    ...progressErrors(spec),
  ];
}

export function replicaSetSpecErrors(spec: JsonObject): Errors {
  return [
    ...nonNegative(spec, "replicas", "spec"),
    ...nonNegative(spec, "minReadySeconds", "spec"),
    ...requiredSelector(spec, "empty selector is invalid for deployment"),
    ...templateErrors(spec),
  ];
}

export function daemonSetSpecErrors(spec: JsonObject): Errors {
  const selector = objectOf(spec, "selector");
  const template = objectOf(spec, "template");
  return [
    ...selectorErrors(selector, "spec.selector"),
    ...labelMismatch(selector, template),
    ...(selector !== undefined && isEmptySelector(selector)
      ? [invalidValue("spec.selector", selector, "empty selector is invalid for daemonset")]
      : none),
    ...podTemplateErrors(template, "spec.template"),
    ...alwaysRestarts(template),
    ...noDeadline(template, "activeDeadlineSeconds in DaemonSet is not Supported"),
    ...nonNegative(spec, "minReadySeconds", "spec"),
    ...daemonStrategyErrors(objectOf(spec, "updateStrategy") ?? {}),
    ...nonNegative(spec, "revisionHistoryLimit", "spec"),
  ];
}

export function statefulSetSpecErrors(spec: JsonObject): Errors {
  const template = objectOf(spec, "template");
  const claims = objectsOf(spec, "volumeClaimTemplates").map((claim) => textOf(objectOf(claim, "metadata"), "name"));
  const policy = textOf(spec, "podManagementPolicy");
  return [
    ...(["OrderedReady", "Parallel"].includes(policy)
      ? none
      : [invalidValue("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")]),
    ...statefulStrategyErrors(objectOf(spec, "updateStrategy") ?? {}),
    ...retentionErrors(objectOf(spec, "persistentVolumeClaimRetentionPolicy")),
    ...nonNegative(spec, "replicas", "spec"),
    ...nonNegative(spec, "minReadySeconds", "spec"),
    ...nonNegative(objectOf(spec, "ordinals"), "start", "spec.ordinals"),
    ...requiredSelector(spec, "empty selector is invalid for statefulset"),
    ...labelMismatch(objectOf(spec, "selector"), template),
    ...podTemplateErrors(template, "spec.template", claims),
    ...alwaysRestarts(template),
    ...noDeadline(template, "activeDeadlineSeconds in StatefulSet is not Supported"),
    ...optionalLabel("spec.serviceName", textOf(spec, "serviceName")),
  ];
}

function optionalLabel(field: string, text: string): Errors {
  return text === "" ? none : named(field, text, dnsLabel);
}

const statefulSetMutable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

export function statefulSetUpdateErrors(spec: JsonObject, before: JsonObject): Errors {
  const isSame =
    canonicalJson(without(spec, ...statefulSetMutable)) === canonicalJson(without(before, ...statefulSetMutable));
  const allowed = statefulSetMutable.map((field) => `'${field}'`);
  const listed = `${allowed.slice(0, -1).join(", ")} and ${allowed.at(-1) ?? ""}`;
  return isSame
    ? none
    : [forbidden("spec", `updates to statefulset spec for fields other than ${listed} are forbidden`)];
}

export function immutableSelector(spec: JsonObject, before: JsonObject): Errors {
  return immutable("spec.selector", spec["selector"], before["selector"]);
}

export function immutable(field: string, value: Json | undefined, before: Json | undefined): Errors {
  return canonicalJson(value) === canonicalJson(before) ? none : [invalidValue(field, value, "field is immutable")];
}

function requiredSelector(spec: JsonObject, emptyText: string): Errors {
  const selector = objectOf(spec, "selector");
  if (selector === undefined) return [required("spec.selector")];
  return [
    ...selectorErrors(selector, "spec.selector"),
    ...(isEmptySelector(selector) ? [invalidValue("spec.selector", selector, emptyText)] : none),
  ];
}

/** Of Deployment and ReplicaSet: the labels first, then the template, then what a long-running Pod may not have. */
function templateErrors(spec: JsonObject): Errors {
  const template = objectOf(spec, "template");
  return [
    ...labelMismatch(objectOf(spec, "selector"), template),
    ...podTemplateErrors(template, "spec.template"),
    ...alwaysRestarts(template),
    ...noDeadline(template, "activeDeadlineSeconds in ReplicaSet is not Supported"),
  ];
}

export function labelMismatch(selector: JsonObject | undefined, template: JsonObject | undefined): Errors {
  const labels = objectOf(objectOf(template, "metadata"), "labels");
  return selectorMatches(selector, labels)
    ? none
    : [invalidValue("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")];
}

function alwaysRestarts(template: JsonObject | undefined): Errors {
  const policy = textOf(objectOf(template, "spec"), "restartPolicy");
  return policy === "Always" ? none : [notSupported("spec.template.spec.restartPolicy", policy, ["Always"])];
}

function noDeadline(template: JsonObject | undefined, text: string): Errors {
  const deadline = numberOf(objectOf(template, "spec"), "activeDeadlineSeconds");
  return deadline === undefined ? none : [forbidden("spec.template.spec.activeDeadlineSeconds", text)];
}

function deploymentStrategyErrors(strategy: JsonObject): Errors {
  const type = textOf(strategy, "type");
  const rolling = objectOf(strategy, "rollingUpdate");
  switch (type) {
    case "Recreate":
      return rolling === undefined
        ? none
        : [forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")];
    case "RollingUpdate":
      return rolling === undefined
        ? [required("spec.strategy.rollingUpdate", "this should be defaulted and never be nil")]
        : rollingErrors(rolling, "spec.strategy.rollingUpdate");
    default:
      return [
        notSupported("spec.strategy", goStruct({ Type: type, RollingUpdate: goRolling(rolling) }), [
          "Recreate",
          "RollingUpdate",
        ]),
      ];
  }
}

function goRolling(rolling: JsonObject | undefined): Json {
  if (rolling === undefined) return null;
  return { MaxUnavailable: rolling["maxUnavailable"] ?? 0, MaxSurge: rolling["maxSurge"] ?? 0 };
}

function rollingErrors(rolling: JsonObject, path: string): Errors {
  const { maxUnavailable, maxSurge } = rolling;
  return [
    ...positiveIntOrPercent(`${path}.maxUnavailable`, maxUnavailable),
    ...positiveIntOrPercent(`${path}.maxSurge`, maxSurge),
    ...(isZero(maxUnavailable) && isZero(maxSurge)
      ? [invalidValue(`${path}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0")]
      : none),
    ...notAbove100Percent(`${path}.maxUnavailable`, maxUnavailable),
  ];
}

function progressErrors(spec: JsonObject): Errors {
  const deadline = numberOf(spec, "progressDeadlineSeconds");
  if (deadline === undefined) return none;
  return [
    ...nonNegative(spec, "progressDeadlineSeconds", "spec"),
    ...(deadline <= (numberOf(spec, "minReadySeconds") ?? 0)
      ? [invalidValue("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")]
      : none),
  ];
}

function daemonStrategyErrors(strategy: JsonObject): Errors {
  const rolling = objectOf(strategy, "rollingUpdate");
  const path = "spec.updateStrategy";
  switch (textOf(strategy, "type")) {
    case "OnDelete":
      return none;
    case "RollingUpdate":
      return rolling === undefined
        ? [required(`${path}.rollingUpdate`)]
        : daemonRollingErrors(rolling, `${path}.rollingUpdate`);
    default:
      return [notSupported(path, strategy, ["RollingUpdate", "OnDelete"])];
  }
}

function daemonRollingErrors(rolling: JsonObject, path: string): Errors {
  const { maxUnavailable, maxSurge } = rolling;
  const isSurging = !isZero(maxSurge);
  return [
    ...(!isZero(maxUnavailable) && isSurging
      ? [invalidValue(`${path}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero")]
      : none),
    ...(isZero(maxUnavailable) && !isSurging
      ? [invalidValue(`${path}.maxUnavailable`, maxUnavailable, "cannot be 0 when maxSurge is 0")]
      : none),
    ...positiveIntOrPercent(`${path}.maxUnavailable`, maxUnavailable),
    ...positiveIntOrPercent(`${path}.maxSurge`, maxSurge),
    ...notAbove100Percent(`${path}.maxUnavailable`, maxUnavailable),
    ...notAbove100Percent(`${path}.maxSurge`, maxSurge),
  ];
}

function statefulStrategyErrors(strategy: JsonObject): Errors {
  const rolling = objectOf(strategy, "rollingUpdate");
  const path = "spec.updateStrategy";
  switch (textOf(strategy, "type")) {
    case "OnDelete":
      return rolling === undefined
        ? none
        : [invalidValue(`${path}.rollingUpdate`, rolling, "only allowed for updateStrategy 'RollingUpdate'")];
    case "RollingUpdate":
      return rolling === undefined
        ? none
        : [
            ...nonNegative(rolling, "partition", `${path}.rollingUpdate`),
            ...maxUnavailableErrors(rolling["maxUnavailable"], `${path}.rollingUpdate.maxUnavailable`),
          ];
    default:
      return [invalidValue(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

function maxUnavailableErrors(value: Json | undefined, path: string): Errors {
  if (value === undefined) return none;
  return [
    ...positiveIntOrPercent(path, value),
    ...(isZero(value) ? [invalidValue(path, value, "cannot be 0")] : none),
    ...notAbove100Percent(path, value),
  ];
}

function retentionErrors(policy: JsonObject | undefined): Errors {
  if (policy === undefined) return none;
  const path = "spec.persistentVolumeClaimRetentionPolicy";
  return ["whenDeleted", "whenScaled"].flatMap((field) =>
    oneOf(`${path}.${field}`, textOf(policy, field), ["Retain", "Delete"]),
  );
}
