import { invalidValue, notSupported, required } from "../../core/field-errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { itemsOf, numberOf, objectOf, objectsOf, textOf, textsOf } from "../../core/json-fields.ts";
import { type Errors, each, named, none, oneOf } from "./checks.ts";
import { containersErrors, userIdErrors } from "./containers.ts";
import { annotationErrors, labelErrors } from "./metadata.ts";
import { dnsLabel, dnsSubdomain, ipAddress, labelValue, qualifiedName } from "./name-rules.ts";
import { nodeExpressionErrors, selectorErrors } from "./selectors.ts";
import { checkVolumes } from "./volumes.ts";

const maxInt32 = 2_147_483_647;
const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** `ValidatePodTemplateSpec`. `claims` are volumes that a StatefulSet adds to each of its Pods. */
export function podTemplateErrors(
  template: JsonObject | undefined,
  path: string,
  claims: readonly string[] = [],
): Errors {
  const metadata = objectOf(template, "metadata");
  return [
    ...labelErrors(objectOf(metadata, "labels"), `${path}.labels`),
    ...annotationErrors(objectOf(metadata, "annotations"), `${path}.annotations`),
    ...podSpecErrors(objectOf(template, "spec") ?? {}, `${path}.spec`, claims),
  ];
}

/** `ValidatePodSpec`, in its order. */
export function podSpecErrors(spec: JsonObject, path: string, claims: readonly string[] = []): Errors {
  const volumes = checkVolumes(objectsOf(spec, "volumes"), `${path}.volumes`);
  const mountable = new Set([...volumes.names, ...claims]);
  const containers = objectsOf(spec, "containers");
  const names = new Set<string>();
  return [
    ...volumes.errors,
    ...(containers.length === 0
      ? [required(`${path}.containers`)]
      : containersErrors(containers, `${path}.containers`, mountable, names)),
    ...containersErrors(objectsOf(spec, "initContainers"), `${path}.initContainers`, mountable, names, true),
    ...oneOf(`${path}.restartPolicy`, textOf(spec, "restartPolicy"), restartPolicies),
    ...oneOf(`${path}.dnsPolicy`, textOf(spec, "dnsPolicy"), dnsPolicies),
    ...labelErrors(objectOf(spec, "nodeSelector"), `${path}.nodeSelector`),
    ...podSecurityErrors(objectOf(spec, "securityContext"), `${path}.securityContext`),
    ...affinityErrors(objectOf(spec, "affinity"), `${path}.affinity`),
    ...each(objectsOf(spec, "topologySpreadConstraints"), `${path}.topologySpreadConstraints`, spreadErrors),
    ...optionalName(spec, "serviceAccountName", path),
    ...optionalName(spec, "nodeName", path),
    ...deadlineErrors(spec, path),
    ...["hostname", "subdomain"].flatMap((field) =>
      textOf(spec, field) === "" ? none : named(`${path}.${field}`, textOf(spec, field), dnsLabel),
    ),
    ...each(objectsOf(spec, "tolerations"), `${path}.tolerations`, tolerationErrors),
    ...each(objectsOf(spec, "hostAliases"), `${path}.hostAliases`, aliasErrors),
    ...optionalName(spec, "priorityClassName", path),
    ...optionalName(spec, "runtimeClassName", path),
  ];
}

function optionalName(spec: JsonObject, field: string, path: string): Errors {
  const name = textOf(spec, field);
  return name === "" ? none : named(`${path}.${field}`, name, dnsSubdomain);
}

function deadlineErrors(spec: JsonObject, path: string): Errors {
  const seconds = numberOf(spec, "activeDeadlineSeconds");
  return seconds === undefined || (seconds >= 1 && seconds <= maxInt32)
    ? none
    : [invalidValue(`${path}.activeDeadlineSeconds`, seconds, `must be between 1 and ${maxInt32}, inclusive`)];
}

function podSecurityErrors(context: JsonObject | undefined, path: string): Errors {
  return ["fsGroup", "runAsUser", "runAsGroup"].flatMap((field) => userIdErrors(context, field, path));
}

function tolerationErrors(toleration: JsonObject, path: string): Errors {
  const key = textOf(toleration, "key");
  const operator = textOf(toleration, "operator");
  const effect = textOf(toleration, "effect");
  const hasSeconds = numberOf(toleration, "tolerationSeconds") !== undefined;
  return [
    ...(key === "" ? none : named(`${path}.key`, key, qualifiedName)),
    ...(key === "" && operator !== "Exists"
      ? [
          invalidValue(
            `${path}.operator`,
            operator,
            'operator must be Exists when `key` is empty, which means "match all values and all keys"',
          ),
        ]
      : none),
    ...(hasSeconds && effect !== "NoExecute"
      ? [invalidValue(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
      : none),
    ...operatorErrors(toleration, operator, path),
    ...(effect === "" || taintEffects.includes(effect) ? none : [notSupported(`${path}.effect`, effect, taintEffects)]),
  ];
}

function operatorErrors(toleration: JsonObject, operator: string, path: string): Errors {
  const value = textOf(toleration, "value");
  switch (operator) {
    case "":
    case "Equal": {
      const problems = labelValue(value);
      return problems.length === 0 ? none : [invalidValue(`${path}.operator`, value, problems.join(";"))];
    }
    case "Exists":
      return value === ""
        ? none
        : [invalidValue(`${path}.operator`, toleration, "value must be empty when `operator` is 'Exists'")];
    default:
      return [notSupported(`${path}.operator`, operator, ["Equal", "Exists"])];
  }
}

function aliasErrors(alias: JsonObject, path: string): Errors {
  return [
    ...named(`${path}.ip`, textOf(alias, "ip"), ipAddress),
    ...each(textsOf(alias, "hostnames"), `${path}.hostnames`, (host, at) =>
      named(at.replace(/\[\d+\]$/, ""), host, dnsSubdomain),
    ),
  ];
}

function spreadErrors(constraint: JsonObject, path: string): Errors {
  const maxSkew = numberOf(constraint, "maxSkew") ?? 0;
  const action = textOf(constraint, "whenUnsatisfiable");
  return [
    ...(maxSkew > 0 ? none : [invalidValue(`${path}.maxSkew`, maxSkew, "must be greater than zero")]),
    ...(textOf(constraint, "topologyKey") === "" ? [required(`${path}.topologyKey`, "can not be empty")] : none),
    ...(["DoNotSchedule", "ScheduleAnyway"].includes(action)
      ? none
      : [notSupported(`${path}.whenUnsatisfiable`, action, ["DoNotSchedule", "ScheduleAnyway"])]),
    ...selectorErrors(objectOf(constraint, "labelSelector"), `${path}.labelSelector`),
  ];
}

const scheduling = "requiredDuringSchedulingIgnoredDuringExecution";
const preference = "preferredDuringSchedulingIgnoredDuringExecution";

function affinityErrors(affinity: JsonObject | undefined, path: string): Errors {
  if (affinity === undefined) return none;
  const node = objectOf(affinity, "nodeAffinity");
  return [
    ...(node === undefined ? none : nodeAffinityErrors(node, `${path}.nodeAffinity`)),
    ...["podAffinity", "podAntiAffinity"].flatMap((field) => {
      const pods = objectOf(affinity, field);
      return pods === undefined ? none : podAffinityErrors(pods, `${path}.${field}`);
    }),
  ];
}

function nodeAffinityErrors(affinity: JsonObject, path: string): Errors {
  const needed = objectOf(affinity, scheduling);
  const terms = `${path}.${scheduling}.nodeSelectorTerms`;
  const requiredErrors =
    needed === undefined
      ? none
      : itemsOf(needed, "nodeSelectorTerms").length === 0
        ? [required(terms, "must have at least one node selector term")]
        : each(objectsOf(needed, "nodeSelectorTerms"), terms, nodeTermErrors);
  return [
    ...requiredErrors,
    ...each(objectsOf(affinity, preference), `${path}.${preference}`, (term, at) => [
      ...weightErrors(term, at),
      ...nodeTermErrors(objectOf(term, "preference") ?? {}, `${at}.preference`),
    ]),
  ];
}

function nodeTermErrors(term: JsonObject, path: string): Errors {
  return ["matchExpressions", "matchFields"].flatMap((field) =>
    each(objectsOf(term, field), `${path}.${field}`, nodeExpressionErrors),
  );
}

function podAffinityErrors(affinity: JsonObject, path: string): Errors {
  return [
    ...each(objectsOf(affinity, scheduling), `${path}.${scheduling}`, podTermErrors),
    ...each(objectsOf(affinity, preference), `${path}.${preference}`, (term, at) => [
      ...weightErrors(term, at),
      ...podTermErrors(objectOf(term, "podAffinityTerm") ?? {}, `${at}.podAffinityTerm`),
    ]),
  ];
}

function podTermErrors(term: JsonObject, path: string): Errors {
  const key = textOf(term, "topologyKey");
  return [
    ...selectorErrors(objectOf(term, "labelSelector"), `${path}.labelSelector`),
    ...selectorErrors(objectOf(term, "namespaceSelector"), `${path}.namespaceSelector`),
    ...(key === ""
      ? [required(`${path}.topologyKey`, "can not be empty")]
      : named(`${path}.topologyKey`, key, qualifiedName)),
  ];
}

function weightErrors(term: JsonObject, path: string): Errors {
  const weight = numberOf(term, "weight") ?? 0;
  return weight >= 1 && weight <= 100 ? none : [invalidValue(`${path}.weight`, weight, "must be in the range 1-100")];
}
