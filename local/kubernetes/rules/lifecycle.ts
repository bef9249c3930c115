import { canonicalJson } from "../../../lib/core/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject, Gvk } from "../api-object.ts";
import { templateGeneration } from "./defaults/workload-defaults.ts";
import { mapItems, mapObject, numberOf, objectOf, textOf, textsOf, without } from "./json-fields.ts";
import { qosClass } from "./qos-class.ts";

/** What a kind does that its schema does not tell. */
export interface KindFacts {
  readonly isBuiltin: boolean;
  /** Whether the resource has a `status` subresource. */
  readonly hasStatus: boolean;
}

const podGraceSeconds = 30;

/** Built-in kinds whose strategies count generations, and what a new one starts with. */
const generationKinds = new Set([
  "/Pod",
  "/ReplicationController",
  "apps/Deployment",
  "apps/DaemonSet",
  "apps/ReplicaSet",
  "apps/StatefulSet",
  "batch/CronJob",
  "batch/Job",
  "networking.k8s.io/Ingress",
  "networking.k8s.io/IngressClass",
  "networking.k8s.io/NetworkPolicy",
  "policy/PodDisruptionBudget",
  "apiextensions.k8s.io/CustomResourceDefinition",
  "admissionregistration.k8s.io/MutatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
  "flowcontrol.apiserver.k8s.io/FlowSchema",
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration",
  "discovery.k8s.io/EndpointSlice",
  // Starts with 1 and stays there: what would count is in no `spec`.
  "scheduling.k8s.io/PriorityClass",
]);

/** Kinds without a `spec`, where everything besides the metadata counts. */
const wholeObjectGenerations = new Set([
  "admissionregistration.k8s.io/MutatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
  "discovery.k8s.io/EndpointSlice",
]);

const answersObjectOnDelete = new Set([
  "/Pod",
  "/Service",
  "/ServiceAccount",
  "/PersistentVolume",
  "/PersistentVolumeClaim",
  "/PodTemplate",
  "/ResourceQuota",
  "storage.k8s.io/StorageClass",
  "storage.k8s.io/VolumeAttachment",
  "storage.k8s.io/CSINode",
  "storage.k8s.io/CSIDriver",
  "storage.k8s.io/VolumeAttributesClass",
]);

const conditionalUpdates = new Set([
  "admissionregistration.k8s.io/MutatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
  "apiextensions.k8s.io/CustomResourceDefinition",
  "coordination.k8s.io/Lease",
  "node.k8s.io/RuntimeClass",
  "policy/PodDisruptionBudget",
  "storage.k8s.io/CSIDriver",
  "storage.k8s.io/CSINode",
  "storage.k8s.io/CSIStorageCapacity",
  "storage.k8s.io/VolumeAttachment",
]);

const createdByPut = new Set([
  "/Service",
  "/Event",
  "/LimitRange",
  "/Endpoints",
  "coordination.k8s.io/Lease",
  "events.k8s.io/Event",
  "rbac.authorization.k8s.io/Role",
  "rbac.authorization.k8s.io/RoleBinding",
  "rbac.authorization.k8s.io/ClusterRole",
  "rbac.authorization.k8s.io/ClusterRoleBinding",
]);

function nameOf(gvk: Gvk): string {
  return `${gvk.group}/${gvk.kind}`;
}

/** Fields of the status that a create keeps or that the server starts with. */
const firstStatus: Readonly<Record<string, JsonObject>> = {
  "/Namespace": { phase: "Active" },
  "/PersistentVolumeClaim": { phase: "Pending" },
  "/PersistentVolume": { phase: "Pending" },
};

/** What the storage strategy does before a create: the status dropped, fields set that belong to the server. */
export function prepareForCreate(object: ApiObject, gvk: Gvk, facts: KindFacts): ApiObject {
  const own = facts.hasStatus ? withFirstStatus(object, gvk, facts) : object;
  const kind = nameOf(gvk);
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
  const kind = nameOf(gvk);
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
  return nameOf(gvk) === "apps/Deployment" ? withField(metadata, "labels", before["labels"]) : metadata;
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
  if (nameOf(gvk) === "/Pod") {
    return { ...object, status: { phase: "Pending", qosClass: qosClass(objectOf(object, "spec")) } };
  }
  const first = firstStatus[nameOf(gvk)];
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

/**
 * The generation after a write: 1 at first, one more when what counts for the kind changed, else as it was. Kinds that
 * count none keep what a create sent. Deletion counts too: call it again with the deletionTimestamp set.
 */
export function generationOf(
  object: ApiObject,
  old: ApiObject | undefined,
  gvk: Gvk,
  facts: KindFacts,
): number | undefined {
  const counts = !facts.isBuiltin || generationKinds.has(nameOf(gvk));
  if (old === undefined) return counts ? 1 : numberOf(objectOf(object, "metadata"), "generation");
  const before = numberOf(objectOf(old, "metadata"), "generation");
  if (!counts) return before;
  const isSame = canonicalJson(counted(object, gvk, facts)) === canonicalJson(counted(old, gvk, facts));
  const isNewlyDeleted = isDeleting(object) && !isDeleting(old);
  return isSame && !isNewlyDeleted ? before : (before ?? 0) + 1;
}

/** The part of an object whose change makes a new generation. */
function counted(object: ApiObject, gvk: Gvk, facts: KindFacts): Json {
  if (!facts.isBuiltin)
    return without(object, "metadata", "apiVersion", "kind", ...(facts.hasStatus ? ["status"] : []));
  if (wholeObjectGenerations.has(nameOf(gvk))) return without(object, "metadata", "apiVersion", "kind");
  return object["spec"] ?? null;
}

function isDeleting(object: ApiObject): boolean {
  return textOf(objectOf(object, "metadata"), "deletionTimestamp") !== "";
}

/** Whether DELETE answers the object where it is gone at once (Pod, Service and a few more), or a Status. */
export function deleteAnswersObject(gvk: Gvk): boolean {
  return answersObjectOnDelete.has(nameOf(gvk));
}

/** Whether an update must say which resourceVersion it changes. */
export function demandsResourceVersion(gvk: Gvk, isBuiltin: boolean): boolean {
  return !isBuiltin || conditionalUpdates.has(nameOf(gvk));
}

/** Whether PUT creates an absent object. */
export function createsOnUpdate(gvk: Gvk): boolean {
  return createdByPut.has(nameOf(gvk));
}

/**
 * Seconds that a DELETE without finalizers still waits: a Pod that is scheduled and not yet over waits for its own or
 * the requested period; 0 deletes at once.
 */
export function gracePeriodSeconds(object: ApiObject, gvk: Gvk, requested: number | undefined): number {
  if (nameOf(gvk) !== "/Pod") return 0;
  const spec = objectOf(object, "spec");
  const phase = textOf(objectOf(object, "status"), "phase");
  if (textOf(spec, "nodeName") === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const seconds = requested ?? numberOf(spec, "terminationGracePeriodSeconds") ?? podGraceSeconds;
  return seconds < 0 ? 1 : seconds;
}
