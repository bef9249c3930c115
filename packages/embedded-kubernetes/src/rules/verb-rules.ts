import type { ApiObject, Gvk } from "../core/api-object.ts";
import { numberOf, objectOf, textOf } from "../core/json-fields.ts";
import { kindOf } from "./kind-facts.ts";

const podGraceSeconds = 30;

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

/** Whether DELETE answers the object where it is gone at once (Pod, Service and a few more), or a Status. */
export function deleteAnswersObject(gvk: Gvk): boolean {
  return answersObjectOnDelete.has(kindOf(gvk));
}

/** Whether an update must say which resourceVersion it changes. */
export function demandsResourceVersion(gvk: Gvk, isBuiltin: boolean): boolean {
  return !isBuiltin || conditionalUpdates.has(kindOf(gvk));
}

/** Whether PUT creates an absent object. */
export function createsOnUpdate(gvk: Gvk): boolean {
  return createdByPut.has(kindOf(gvk));
}

/**
 * Seconds that a DELETE without finalizers still waits: a Pod that is scheduled and not yet over waits for its own or
 * the requested period; 0 deletes at once.
 */
export function gracePeriodSeconds(object: ApiObject, gvk: Gvk, requested: number | undefined): number {
  if (kindOf(gvk) !== "/Pod") return 0;
  const spec = objectOf(object, "spec");
  const phase = textOf(objectOf(object, "status"), "phase");
  if (textOf(spec, "nodeName") === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const seconds = requested ?? numberOf(spec, "terminationGracePeriodSeconds") ?? podGraceSeconds;
  return seconds < 0 ? 1 : seconds;
}
