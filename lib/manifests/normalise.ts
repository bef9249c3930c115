import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { isCertificate } from "../core/validation.ts";

/**
 * An object as it is sent to the cluster, by Flux's rules (reference 3.12 step 5): fields that the API server would default or
 * refuse are set or removed here, so that they never look like drift. RBAC roles are left unchanged.
 */
export function normalise(object: JsonObject): JsonObject {
  const { apiVersion, kind } = object;
  if (apiVersion === "rbac.authorization.k8s.io/v1" && (kind === "Role" || kind === "ClusterRole")) return object;
  const typed = normaliseKind(
    object,
    typeof apiVersion === "string" && typeof kind === "string" ? `${apiVersion} ${kind}` : "",
  );
  const isDefinition = kind === "CustomResourceDefinition";
  const { status: _status, ...withoutStatus } = typed;
  const kept: JsonObject = isDefinition ? withoutBadCaBundle(typed) : withoutStatus;
  const metadata = kept["metadata"];
  if (!isJsonObject(metadata)) return kept;
  const dropped = ["creationTimestamp", ...(isEmptyList(metadata["managedFields"]) ? ["managedFields"] : [])];
  if (!dropped.some((field) => field in metadata)) return kept;
  return {
    ...kept,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([field]) => !dropped.includes(field))),
  };
}

/** The API server refuses managed fields in an apply, an empty list too, which Flux does not send. */
function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}

/**
 * Some charts have definitions with a placeholder for a certificate that an injector fills in later. The API server refuses a
 * definition whose certificate it cannot read (reference 3.14 step 1).
 */
function withoutBadCaBundle(definition: JsonObject): JsonObject {
  return change(definition, ["spec", "conversion", "webhook", "clientConfig"], (config) => {
    if (!isJsonObject(config)) return config;
    const { caBundle, ...rest } = config;
    return typeof caBundle !== "string" || caBundle === "" || isCaBundle(caBundle) ? config : rest;
  });
}

function isCaBundle(base64: string): boolean {
  const bytes = Buffer.from(base64, "base64");
  // Node decodes invalid base64 as far as it can; an API server refuses it.
  return bytes.toString("base64") === base64.replaceAll(/[\r\n]/g, "") && isCertificate(bytes.toString());
}

/** Where each workload kind keeps its pod spec. */
const podSpecPaths: Readonly<Record<string, readonly string[]>> = {
  "v1 Pod": ["spec"],
  "apps/v1 Deployment": ["spec", "template", "spec"],
  "apps/v1 StatefulSet": ["spec", "template", "spec"],
  "apps/v1 DaemonSet": ["spec", "template", "spec"],
  "apps/v1 ReplicaSet": ["spec", "template", "spec"],
  "batch/v1 Job": ["spec", "template", "spec"],
  "batch/v1 CronJob": ["spec", "jobTemplate", "spec", "template", "spec"],
};

/**
 * Fields that Go's types write even if they are empty. Flux decodes objects into these types, so it owns the fields; without
 * them an object that Flux applied would look drifted to us, and the other way round.
 */
const alwaysPresent: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "v1 Namespace": [["spec"]],
  "v1 PersistentVolumeClaim": [["spec", "resources"]],
  "apps/v1 Deployment": [
    ["spec", "strategy"],
    ["spec", "template", "metadata"],
  ],
  "apps/v1 StatefulSet": [
    ["spec", "updateStrategy"],
    ["spec", "template", "metadata"],
  ],
  "apps/v1 DaemonSet": [
    ["spec", "updateStrategy"],
    ["spec", "template", "metadata"],
  ],
  "apps/v1 ReplicaSet": [["spec", "template", "metadata"]],
  "batch/v1 Job": [["spec", "template", "metadata"]],
  "batch/v1 CronJob": [
    ["spec", "jobTemplate", "metadata"],
    ["spec", "jobTemplate", "spec", "template", "metadata"],
  ],
};

function normaliseKind(object: JsonObject, kind: string): JsonObject {
  return (alwaysPresent[kind] ?? []).reduce(withEmpty, normaliseContent(object, kind));
}

function normaliseContent(object: JsonObject, kind: string): JsonObject {
  if (kind === "v1 Secret") return mergeStringData(object);
  if (kind === "v1 Service") return change(object, ["spec", "ports"], withProtocol);
  const path = podSpecPaths[kind];
  if (path === undefined) return object;
  return ["containers", "initContainers"].reduce(
    (current, list) =>
      change(current, [...path, list], (containers) =>
        mapList(containers, (container) => withEmpty(change(container, ["ports"], withProtocol), ["resources"])),
      ),
    object,
  );
}

function withProtocol(ports: Json): Json {
  return mapList(ports, (port) => ((port["protocol"] ?? "") === "" ? { ...port, protocol: "TCP" } : port));
}

/** The API server does the same, but then answers without `stringData`, which would look like drift. */
function mergeStringData(secret: JsonObject): JsonObject {
  const { stringData, ...rest } = secret;
  if (!isJsonObject(stringData)) return secret;
  const data: { [key: string]: Json } = isJsonObject(rest["data"]) ? { ...rest["data"] } : {};
  for (const [key, value] of Object.entries(stringData)) {
    // The API server refuses any other value with a message of its own.
    if (typeof value !== "string") return secret;
    data[key] = Buffer.from(value).toString("base64");
  }
  return { ...rest, data };
}

/** The object with an empty mapping at a path that has no value, if its parent exists. */
function withEmpty(object: JsonObject, path: readonly string[]): JsonObject {
  const [field = "", ...rest] = path;
  const value = object[field] ?? null;
  if (rest.length === 0) return value === null ? { ...object, [field]: {} } : object;
  return isJsonObject(value) ? { ...object, [field]: withEmpty(value, rest) } : object;
}

/** The object with the value at a path changed; unchanged if there is no value. */
function change(object: JsonObject, path: readonly string[], alter: (value: Json) => Json): JsonObject {
  const [field, ...rest] = path;
  if (field === undefined) return object;
  const value = object[field];
  if (value === undefined || value === null) return object;
  if (rest.length === 0) return { ...object, [field]: alter(value) };
  return isJsonObject(value) ? { ...object, [field]: change(value, rest, alter) } : object;
}

function mapList(value: Json, map: (item: JsonObject) => JsonObject): Json {
  if (!Array.isArray(value)) return value;
  return value.map((item: Json) => (isJsonObject(item) ? map(item) : item));
}
