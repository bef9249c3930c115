import { forbidden, invalidValue, notSupported, required } from "../../core/field-errors.ts";
import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { itemsOf, numberOf, objectOf, objectsOf, textOf, textsOf, without } from "../../core/json-fields.ts";
import { parseQuantity } from "../../core/quantity.ts";
import { type Errors, each, named, negativeText, none, oneOf } from "./checks.ts";
import { dnsSubdomain, qualifiedName } from "./name-rules.ts";
import { quantityText } from "./resources.ts";
import { selectorErrors } from "./selectors.ts";
import { immutable } from "./workloads.ts";

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const volumeModes = ["Block", "Filesystem"];
const notVolumeSources = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
]);

export function claimSpecErrors(spec: JsonObject): Errors {
  const requests = objectOf(objectOf(spec, "resources"), "requests") ?? {};
  const className = textOf(spec, "storageClassName");
  const mode = textOf(spec, "volumeMode");
  return [
    ...(itemsOf(spec, "accessModes").length === 0
      ? [required("spec.accessModes", "at least 1 access mode is required")]
      : none),
    ...selectorErrors(objectOf(spec, "selector"), "spec.selector"),
    ...modeErrors(spec),
    ...(requests["storage"] === undefined
      ? [required("spec.resources[storage]")]
      : positive("spec.resources[storage]", requests, "storage")),
    ...(className === "" ? none : named("spec.storageClassName", className, dnsSubdomain)),
    ...(mode === "" || volumeModes.includes(mode) ? none : [notSupported("spec.volumeMode", mode, volumeModes)]),
  ];
}

function modeErrors(spec: JsonObject): Errors {
  const modes = textsOf(spec, "accessModes");
  const isExclusive = modes.includes("ReadWriteOncePod") && modes.length > 1;
  return [
    ...modes
      .filter((mode) => !accessModes.includes(mode))
      .map((mode) => notSupported("spec.accessModes", mode, accessModes)),
    ...(isExclusive ? [forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes")] : none),
  ];
}

function positive(field: string, amounts: JsonObject, name: string): Errors {
  const text = quantityText(amounts, name);
  return parseQuantity(text).nanos > 0n ? none : [invalidValue(field, text, "must be greater than zero")];
}

/** The immutable part of a claim; `difference` is how the server prints what changed. */
export function claimUpdateErrors(spec: JsonObject, before: JsonObject, isBound: boolean, difference: string): Errors {
  const kept = (claim: JsonObject): JsonObject =>
    isBound ? withoutRequests(without(claim, "volumeAttributesClassName")) : claim;
  // A controller binds a claim by setting the volume's name once.
  const bindable = textOf(before, "volumeName") === "" ? without(spec, "volumeName") : spec;
  const former = textOf(before, "volumeName") === "" ? without(before, "volumeName") : before;
  if (canonicalJson(kept(bindable)) === canonicalJson(kept(former))) return shrinkErrors(spec, before);
  const text =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
  return [forbidden("spec", `${text}\n${difference}`)];
}

function withoutRequests(spec: JsonObject): JsonObject {
  return { ...spec, resources: without(objectOf(spec, "resources") ?? {}, "requests") };
}

function shrinkErrors(spec: JsonObject, before: JsonObject): Errors {
  const now = quantityText(objectOf(objectOf(spec, "resources"), "requests") ?? {}, "storage");
  const former = quantityText(objectOf(objectOf(before, "resources"), "requests") ?? {}, "storage");
  return parseQuantity(now).nanos < parseQuantity(former).nanos
    ? [forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")]
    : none;
}

export function volumeSpecErrors(spec: JsonObject): Errors {
  const capacity = objectOf(spec, "capacity") ?? {};
  const sources = Object.keys(spec).filter((field) => !notVolumeSources.has(field));
  const policy = textOf(spec, "persistentVolumeReclaimPolicy");
  return [
    ...(itemsOf(spec, "accessModes").length === 0 ? [required("spec.accessModes")] : none),
    ...modeErrors(spec),
    ...(Object.keys(capacity).length === 0 ? [required("spec.capacity")] : none),
    ...(capacity["storage"] === undefined || Object.keys(capacity).length > 1
      ? [notSupported("spec.capacity", printedCapacity(capacity), ["storage"])]
      : none),
    ...Object.keys(capacity).flatMap((name) => positive(`spec.capacity[${name}]`, capacity, name)),
    ...(policy === "" ? none : oneOf("spec.persistentVolumeReclaimPolicy", policy, ["Delete", "Recycle", "Retain"])),
    ...(sources.length === 0 ? [required("spec", "must specify a volume type")] : none),
    ...sources.slice(1).map((source) => forbidden(`spec.${source}`, "may not specify more than 1 volume type")),
    ...(textOf(spec, "storageClassName") === ""
      ? none
      : named("spec.storageClassName", textOf(spec, "storageClassName"), dnsSubdomain)),
  ];
}

function printedCapacity(capacity: JsonObject): JsonObject | null {
  return Object.keys(capacity).length === 0 ? null : capacity;
}

export function volumeUpdateErrors(spec: JsonObject, before: JsonObject): Errors {
  const source = (volume: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(volume).filter(([field]) => !notVolumeSources.has(field)));
  return [
    ...(canonicalJson(source(spec)) === canonicalJson(source(before))
      ? none
      : [forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")]),
    ...immutable("spec.volumeMode", spec["volumeMode"], before["volumeMode"]),
  ];
}

const bindingModes = ["Immediate", "WaitForFirstConsumer"];
const reclaimPolicies = ["Delete", "Retain"];

export function storageClassErrors(object: JsonObject): Errors {
  return [
    ...(textOf(object, "provisioner") === "" ? [required("provisioner")] : none),
    ...oneOf("reclaimPolicy", textOf(object, "reclaimPolicy"), reclaimPolicies),
    ...oneOf("volumeBindingMode", textOf(object, "volumeBindingMode"), bindingModes),
  ];
}

export function storageClassUpdateErrors(object: JsonObject, old: JsonObject): Errors {
  const isSame = (field: string): boolean => canonicalJson(object[field]) === canonicalJson(old[field]);
  return [
    ...["parameters", "provisioner"]
      .filter((field) => !isSame(field))
      .map((field) => forbidden(field, `updates to ${field} are forbidden.`)),
    ...(isSame("reclaimPolicy") ? none : [forbidden("reclaimPolicy", "updates to reclaimPolicy are forbidden.")]),
    ...immutable("volumeBindingMode", object["volumeBindingMode"], old["volumeBindingMode"]),
  ];
}

export function quotaSpecErrors(spec: JsonObject): Errors {
  const hard = objectOf(spec, "hard") ?? {};
  return Object.keys(hard)
    .toSorted()
    .flatMap((name) => [...quotaNameErrors(name, `spec.hard[${name}]`), ...quotaAmountErrors(name, hard)]);
}

const quotaResources = new Set([
  "cpu",
  "memory",
  "ephemeral-storage",
  "requests.cpu",
  "requests.memory",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
  "pods",
  "resourcequotas",
  "services",
  "services.nodeports",
  "services.loadbalancers",
  "replicationcontrollers",
  "secrets",
  "persistentvolumeclaims",
  "configmaps",
]);

function quotaNameErrors(name: string, path: string): Errors {
  const problems = named(path, name, qualifiedName);
  if (problems.length > 0 || name.includes("/") || quotaResources.has(name) || /^(requests\.)?hugepages-/.test(name)) {
    return problems;
  }
  return [
    invalidValue(path, name, "must be a standard resource type"),
    invalidValue(path, name, "must be a standard resource for quota"),
  ];
}

/** What is counted comes in whole numbers. */
function quotaAmountErrors(name: string, hard: JsonObject): Errors {
  const text = quantityText(hard, name);
  const { nanos } = parseQuantity(text);
  const path = `spec.hard[${name}]`;
  if (nanos < 0n) return [invalidValue(path, text, negativeText)];
  const isCounted = quotaResources.has(name) && !/cpu|memory|storage/.test(name);
  return isCounted && nanos % 10n ** 9n !== 0n ? [invalidValue(path, text, "must be an integer")] : none;
}

export function limitRangeSpecErrors(spec: JsonObject): Errors {
  return each(objectsOf(spec, "limits"), "spec.limits", limitErrors);
}

function limitErrors(limit: JsonObject, path: string): Errors {
  const amounts = (field: string): JsonObject => objectOf(limit, field) ?? {};
  const resources = [
    ...new Set(["max", "min", "default", "defaultRequest"].flatMap((field) => Object.keys(amounts(field)))),
  ];
  const pairs = [
    ["min", "max"],
    ["defaultRequest", "max"],
    ["min", "default"],
    ["default", "max"],
    ["defaultRequest", "default"],
  ] as const;
  const nanos = (field: string, name: string): bigint | undefined =>
    amounts(field)[name] === undefined ? undefined : parseQuantity(quantityText(amounts(field), name)).nanos;
  return resources.toSorted().flatMap((name) =>
    pairs.flatMap(([lower, upper]) => {
      const [low, high] = [nanos(lower, name), nanos(upper, name)];
      if (low === undefined || high === undefined || low <= high) return none;
      const [one, other] = [quantityText(amounts(lower), name), quantityText(amounts(upper), name)];
      const text = `${lower} value ${one} is greater than ${upper} value ${other}`;
      return [invalidValue(`${path}.${lower}[${name}]`, one, text)];
    }),
  );
}

const maxUserPriority = 1_000_000_000;

export function priorityClassErrors(object: JsonObject): Errors {
  const name = textOf(objectOf(object, "metadata"), "name");
  const value = numberOf(object, "value") ?? 0;
  if (name.startsWith("system-")) return systemClassErrors(name, value);
  return [
    ...(value > maxUserPriority
      ? [forbidden("value", `maximum allowed value of a user defined priority is ${maxUserPriority}`)]
      : none),
    ...oneOf("preemptionPolicy", textOf(object, "preemptionPolicy"), ["Never", "PreemptLowerPriority"]),
  ];
}

const systemClasses: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};

function systemClassErrors(name: string, value: number): Errors {
  const text =
    "priority class names with 'system-' prefix are reserved for system use only. error: value of system priority class does not match";
  return systemClasses[name] === value ? none : [forbidden("metadata.name", text)];
}

export function priorityClassUpdateErrors(object: JsonObject, old: JsonObject): Errors {
  return [
    ...((numberOf(object, "value") ?? 0) === (numberOf(old, "value") ?? 0)
      ? none
      : [forbidden("value", "may not be changed in an update.")]),
    ...immutable("preemptionPolicy", object["preemptionPolicy"], old["preemptionPolicy"]),
  ];
}
