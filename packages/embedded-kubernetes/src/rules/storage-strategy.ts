import type { ApiObject, Gvk } from "../core/api-object.ts";
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { mapItems, mapObject, objectOf, textOf, textsOf, without } from "../core/json-fields.ts";
import { templateGeneration } from "./defaults/workload-defaults.ts";
import { type KindFacts, kindOf } from "./kind-facts.ts";
import { qosClass } from "./qos-class.ts";

/** Fields of the status that a create keeps or that the server starts with. */
const firstStatus: Readonly<Record<string, JsonObject>> = {
  "/Namespace": { phase: "Active" },
  "/PersistentVolumeClaim": { phase: "Pending" },
  "/PersistentVolume": { phase: "Pending" },
};

/** What the storage strategy does before a create: the status dropped, fields set that belong to the server. */
export function prepareForCreate(object: ApiObject, gvk: Gvk, facts: KindFacts): ApiObject {
  const own = facts.hasStatus ? withFirstStatus(object, gvk, facts) : object;
  const kind = kindOf(gvk);
  if (kind === "/Namespace") return { ...own, spec: { ...objectOf(own, "spec"), finalizers: ["kubernetes"] } };
  if (kind === "/PersistentVolumeClaim") return withFinalizer(own, "kubernetes.io/pvc-protection");
  if (kind === "/PersistentVolume") return withFinalizer(own, "kubernetes.io/pv-protection");
  if (kind === "batch/Job") return withJobSelector(own);
  if (kind === "apps/StatefulSet") return withoutMaxUnavailable(own, undefined);
  if (kind === "/ServiceAccount") return mapItems(own, "secrets", nameOnly);
  if (kind === "apps/DaemonSet") return withTemplateGeneration(own, 1);
  return own;
}

/** What the strategy does before an update: the part that this (sub)resource may not write comes from `old`. */
export function prepareForUpdate(
  object: ApiObject,
  old: ApiObject,
  gvk: Gvk,
  facts: KindFacts,
  subresource?: string,
): ApiObject {
  const identified = withKeptMetadata(object, old);
  if (subresource === "status") return statusOnly(identified, old, gvk, facts);
  const kept = facts.hasStatus ? withField(identified, "status", old["status"]) : identified;
  const kind = kindOf(gvk);
  if (kind === "/Namespace" && subresource !== "finalize") return withField(kept, "spec", old["spec"]);
  if (kind === "apps/StatefulSet") return withoutMaxUnavailable(kept, old);
  if (kind === "/ServiceAccount") return mapItems(kept, "secrets", nameOnly);
  if (kind === "apps/DaemonSet") return withTemplateGeneration(kept, nextTemplateGeneration(kept, old));
  return kept;
}

/** What an update may leave out, and times that it cannot change; what it says otherwise is left for validation. */
function withKeptMetadata(object: ApiObject, old: ApiObject): ApiObject {
  const metadata = objectOf(object, "metadata") ?? {};
  const before = objectOf(old, "metadata") ?? {};
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = before;
  const kept = setFields({ creationTimestamp, deletionTimestamp, generation });
  const filled = setFields({ uid, deletionGracePeriodSeconds }).filter(([field]) => !isSet(metadata[field]));
  return { ...object, metadata: { ...metadata, ...Object.fromEntries([...kept, ...filled]) } };
}

function setFields(fields: Readonly<Record<string, Json | undefined>>): readonly (readonly [string, Json])[] {
  return Object.entries(fields).flatMap(([field, value]) => (isSet(value) ? [[field, value] as const] : []));
}

function isSet(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && value !== "";
}

/** A write to `/status` changes the status; of a custom resource nothing else, of a built-in the metadata too. */
function statusOnly(object: ApiObject, old: ApiObject, gvk: Gvk, facts: KindFacts): ApiObject {
  const metadata = facts.isBuiltin ? statusMetadata(object, old, gvk) : customStatusMetadata(object, old);
  return withField({ ...old, metadata }, "status", object["status"]);
}

/** The metadata that a write to `/status` of a built-in kind leaves. Annotations may travel with a status: the Deployment controller's revision does. A Deployment's labels may not. */
export function statusMetadata(object: ApiObject, old: ApiObject, gvk: Gvk): JsonObject {
  const metadata = objectOf(object, "metadata") ?? {};
  const before = objectOf(old, "metadata") ?? {};
  return kindOf(gvk) === "apps/Deployment" ? withField(metadata, "labels", before["labels"]) : metadata;
}

function customStatusMetadata(object: ApiObject, old: ApiObject): JsonObject {
  const { managedFields, resourceVersion } = objectOf(object, "metadata") ?? {};
  const before = objectOf(old, "metadata") ?? {};
  return withField(withField(before, "managedFields", managedFields), "resourceVersion", resourceVersion);
}

function withField(object: JsonObject, field: string, value: Json | undefined): JsonObject {
  return value === undefined ? without(object, field) : { ...object, [field]: value };
}

function withFirstStatus(object: ApiObject, gvk: Gvk, facts: KindFacts): ApiObject {
  if (kindOf(gvk) === "/Pod") {
    return { ...object, status: { phase: "Pending", qosClass: qosClass(objectOf(object, "spec")) } };
  }
  const first = firstStatus[kindOf(gvk)];
  if (first !== undefined) return { ...object, status: first };
  return facts.isBuiltin && isJsonObject(object["status"]) ? { ...object, status: {} } : without(object, "status");
}

/** A DaemonSet counts the changes of its template, and shows them in an annotation. */
function withTemplateGeneration(object: ApiObject, generation: number): ApiObject {
  const metadata = objectOf(object, "metadata") ?? {};
  const annotations = { ...objectOf(metadata, "annotations"), [templateGeneration]: String(generation) };
  return { ...object, metadata: { ...metadata, annotations } };
}

function nextTemplateGeneration(object: ApiObject, old: ApiObject): number {
  const before = Number(textOf(objectOf(objectOf(old, "metadata"), "annotations"), templateGeneration));
  const templateOf = (set: ApiObject): string => canonicalJson(objectOf(set, "spec")?.["template"]);
  return templateOf(object) === templateOf(old) ? before : before + 1;
}

/** Of the Secrets that an account may use the names alone are kept. */
function nameOnly(reference: JsonObject): JsonObject {
  const { name } = reference;
  return name === undefined ? {} : { name };
}

/** `maxUnavailable` of a StatefulSet is behind a gate that is shut by default: it is dropped where it is new. */
function withoutMaxUnavailable(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const rollingOf = (set: ApiObject | undefined): JsonObject | undefined =>
    objectOf(objectOf(objectOf(set, "spec"), "updateStrategy"), "rollingUpdate");
  if (rollingOf(object)?.["maxUnavailable"] === undefined || rollingOf(old)?.["maxUnavailable"] !== undefined) {
    return object;
  }
  const dropped = (rolling: JsonObject): JsonObject => without(rolling, "maxUnavailable");
  return mapObject(object, "spec", (spec) =>
    mapObject(spec, "updateStrategy", (strategy) => mapObject(strategy, "rollingUpdate", dropped)),
  );
}

function withFinalizer(object: ApiObject, finalizer: string): ApiObject {
  const metadata = objectOf(object, "metadata") ?? {};
  const finalizers = textsOf(metadata, "finalizers");
  return finalizers.includes(finalizer)
    ? object
    : { ...object, metadata: { ...metadata, finalizers: [...finalizers, finalizer] } };
}

/** Without `manualSelector` the server makes a Job's selector and the labels that it selects, from the uid. */
function withJobSelector(job: ApiObject): ApiObject {
  const spec = objectOf(job, "spec") ?? {};
  if (spec["manualSelector"] === true) return job;
  const metadata = objectOf(job, "metadata");
  const uid = textOf(metadata, "uid");
  const name = textOf(metadata, "name");
  const template = objectOf(spec, "template") ?? {};
  const templateMetadata = objectOf(template, "metadata") ?? {};
  const labels = {
    ...objectOf(templateMetadata, "labels"),
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  const selector = objectOf(spec, "selector") ?? {};
  const matchLabels = { ...objectOf(selector, "matchLabels"), "batch.kubernetes.io/controller-uid": uid };
  // A Job that took its labels from the template shares them, so that it gets these too.
  const isShared = metadata?.["labels"] === templateMetadata["labels"];
  return {
    ...job,
    ...(isShared ? { metadata: { ...metadata, labels } } : {}),
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...templateMetadata, labels } },
    },
  };
}
