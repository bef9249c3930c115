import { type ObjectRef, refKey } from "../core/object-ref.ts";

/**
 * The stages of an apply (Flux's, reference 3.13): what defines others first. A stage starts only when the one before is
 * in the cluster, so that custom resources find their definition and objects their namespace.
 */
export const stages = ["definitions", "classes", "rest"] as const;
export type Stage = (typeof stages)[number];

const definitions = new Set([
  "apiextensions.k8s.io/CustomResourceDefinition",
  "/Namespace",
  `rbac.authorization.k8s.io/ClusterRole`,
]);

export function stageOf({ group, kind }: Pick<ObjectRef, "group" | "kind">): Stage {
  if (definitions.has(`${group}/${kind}`)) return "definitions";
  return kind.endsWith("Class") ? "classes" : "rest";
}

/** Order by kind inside a stage: the kind's name alone selects the place. */
const firstKinds = [
  "CustomResourceDefinition",
  "Namespace",
  "ClusterRole",
  "ClusterClass",
  "RuntimeClass",
  "PriorityClass",
  "StorageClass",
  "VolumeSnapshotClass",
  "IngressClass",
  "GatewayClass",
  "ClusterRoleBinding",
  "ResourceQuota",
  "ServiceAccount",
  "Role",
  "RoleBinding",
  "ConfigMap",
  "Secret",
  "Service",
  "LimitRange",
  "Deployment",
  "StatefulSet",
  "CronJob",
  "PodDisruptionBudget",
];
/** Last, since a webhook whose backend is not there yet refuses everything else. */
const lastKinds = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

const rankByKind: ReadonlyMap<string, number> = new Map([
  ...firstKinds.map((kind, index) => [kind, index] as const),
  ...lastKinds.map((kind, index) => [kind, firstKinds.length + 1 + index] as const),
]);

function rankOf(kind: string): number {
  return rankByKind.get(kind) ?? firstKinds.length;
}

/** Sorts into Flux's apply order: stage, kind, group, kind name, namespace, name. Prune goes through it backwards. */
export function byApplyOrder(a: ObjectRef, b: ObjectRef): number {
  return (
    stages.indexOf(stageOf(a)) - stages.indexOf(stageOf(b)) ||
    rankOf(a.kind) - rankOf(b.kind) ||
    compareText(refKey(a), refKey(b))
  );
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
