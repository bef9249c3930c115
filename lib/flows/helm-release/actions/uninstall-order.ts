/** Helm's order of kinds for an uninstall (pkg/release/v1/util/kind_sorter.go); any other kind comes last. */
const kinds = [
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "APIService",
  "Ingress",
  "IngressClass",
  "Service",
  "CronJob",
  "Job",
  "StatefulSet",
  "HorizontalPodAutoscaler",
  "Deployment",
  "ReplicaSet",
  "ReplicationController",
  "Pod",
  "DaemonSet",
  "RoleBindingList",
  "RoleBinding",
  "RoleList",
  "Role",
  "ClusterRoleBindingList",
  "ClusterRoleBinding",
  "ClusterRoleList",
  "ClusterRole",
  "CustomResourceDefinition",
  "PersistentVolumeClaim",
  "PersistentVolume",
  "StorageClass",
  "ConfigMap",
  "SecretList",
  "Secret",
  "ServiceAccount",
  "PodDisruptionBudget",
  "PodSecurityPolicy",
  "LimitRange",
  "ResourceQuota",
  "NetworkPolicy",
  "Namespace",
  "PriorityClass",
];

const rankByKind: ReadonlyMap<string, number> = new Map(kinds.map((kind, rank) => [kind, rank]));

/** The kinds in the order in which Helm deletes them; unknown ones last, by name. */
export function byUninstallOrder(a: string, b: string): number {
  const [rankOfA = kinds.length, rankOfB = kinds.length] = [rankByKind.get(a), rankByKind.get(b)];
  return rankOfA - rankOfB || (a === b ? 0 : a < b ? -1 : 1);
}
