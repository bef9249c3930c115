import type { ApiObject, Gvk } from "../core/api-object.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import { numberOf, objectOf, textOf, without } from "../core/json-fields.ts";
import { type KindFacts, kindOf } from "./kind-facts.ts";

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
  const counts = !facts.isBuiltin || generationKinds.has(kindOf(gvk));
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
  if (wholeObjectGenerations.has(kindOf(gvk))) return without(object, "metadata", "apiVersion", "kind");
  return object["spec"] ?? null;
}

function isDeleting(object: ApiObject): boolean {
  return textOf(objectOf(object, "metadata"), "deletionTimestamp") !== "";
}
