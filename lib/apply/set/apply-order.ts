import { type ObjectRef, refKey } from "../../core/object-ref.ts";
import { type ApplyRules, stageKind, usualRules } from "./apply-rules.ts";

/**
 * The stages of an apply (Flux's, reference 3.13): definitions come first. A stage starts only when the one before is in the cluster, so
 * that custom resources find their definition and objects their namespace. The installation names the kinds of the stage `custom`; nothing
 * waits for their health.
 */
export const stages = ["definitions", "classes", "custom", "rest"] as const;
export type Stage = (typeof stages)[number];

const definitions = new Set([
  "apiextensions.k8s.io/CustomResourceDefinition",
  "/Namespace",
  `rbac.authorization.k8s.io/ClusterRole`,
]);

export function stageOf(
  ref: Pick<ObjectRef, "group" | "kind">,
  { customStageKinds }: Pick<ApplyRules, "customStageKinds">,
): Stage {
  const kind = stageKind(ref);
  if (definitions.has(kind)) return "definitions";
  if (kind.endsWith("Class")) return "classes";
  return customStageKinds.has(kind) ? "custom" : "rest";
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
/** Last, since a webhook whose backend is not ready yet refuses everything else. */
const lastKinds = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

const rankByKind: ReadonlyMap<string, number> = new Map([
  ...firstKinds.map((kind, index) => [kind, index] as const),
  ...lastKinds.map((kind, index) => [kind, firstKinds.length + 1 + index] as const),
]);

function rankOf(kind: string): number {
  return rankByKind.get(kind) ?? firstKinds.length;
}

/**
 * Sorts into Flux's apply order: stage, kind, group, kind name, namespace, name. Prune goes through it backwards, without the
 * stage of the installation.
 */
export function byApplyOrder(a: ObjectRef, b: ObjectRef, rules: ApplyRules = usualRules): number {
  return (
    stages.indexOf(stageOf(a, rules)) - stages.indexOf(stageOf(b, rules)) ||
    rankOf(a.kind) - rankOf(b.kind) ||
    compareText(refKey(a), refKey(b))
  );
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
