import { isJsonList, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { Undecided } from "./read-failure.ts";

/**
 * Which fields hold names of other objects: kustomize's own table (api 0.21.1, `namereference.go`). A kind may be followed by its
 * version and its group; `~` is where a kind has the spec of its Pods.
 */
const table: readonly (readonly [targets: string, referrers: string, paths: string])[] = [
  ["Deployment ReplicationController ReplicaSet StatefulSet", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"],
  [
    "ConfigMap/v1",
    "Pod/v1 PodTemplate Deployment ReplicaSet DaemonSet StatefulSet Job CronJob",
    "~/volumes/configMap/name ~/volumes/projected/sources/configMap/name ~/containers/env/valueFrom/configMapKeyRef/name ~/initContainers/env/valueFrom/configMapKeyRef/name ~/containers/envFrom/configMapRef/name ~/initContainers/envFrom/configMapRef/name",
  ],
  ["ConfigMap/v1", "Node", "spec/configSource/configMap"],
  ["ConfigMap/v1 Secret/v1", "Role", "rules/resourceNames"],
  ["ConfigMap/v1 Secret/v1 PersistentVolume/v1", "ClusterRole", "rules/resourceNames"],
  ["ConfigMap/v1", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\fastcgi-params-configmap"],
  [
    "Secret/v1",
    "Pod/v1 PodTemplate Deployment ReplicaSet DaemonSet StatefulSet Job CronJob",
    "~/volumes/secret/secretName ~/volumes/projected/sources/secret/name ~/containers/env/valueFrom/secretKeyRef/name ~/initContainers/env/valueFrom/secretKeyRef/name ~/containers/envFrom/secretRef/name ~/initContainers/envFrom/secretRef/name ~/imagePullSecrets/name",
  ],
  [
    "Secret/v1",
    "Ingress",
    "spec/tls/secretName metadata/annotations/ingress.kubernetes.io\\auth-secret metadata/annotations/nginx.ingress.kubernetes.io\\auth-secret metadata/annotations/nginx.ingress.kubernetes.io\\auth-tls-secret",
  ],
  ["Secret/v1", "ServiceAccount", "imagePullSecrets/name"],
  [
    "Secret/v1",
    "StorageClass",
    "parameters/secretName parameters/adminSecretName parameters/userSecretName parameters/secretRef",
  ],
  ["Secret/v1", "Service/v1/serving.knative.dev", "~/containers/env/valueFrom/secretKeyRef/name"],
  ["Secret/v1", "PersistentVolume", "spec/azureFile/secretName"],
  ["Service/v1", "StatefulSet//apps", "spec/serviceName"],
  [
    "Service/v1",
    "Ingress",
    "spec/rules/http/paths/backend/serviceName spec/backend/serviceName spec/rules/http/paths/backend/service/name spec/defaultBackend/service/name",
  ],
  [
    "ServiceAccount/v1",
    "Pod Deployment DaemonSet StatefulSet ReplicationController Job CronJob",
    "~/serviceAccountName",
  ],
  [
    "PersistentVolumeClaim/v1",
    "Pod Deployment DaemonSet StatefulSet ReplicationController Job CronJob",
    "~/volumes/persistentVolumeClaim/claimName",
  ],
  ["PersistentVolume/v1", "PersistentVolumeClaim", "spec/volumeName"],
  ["StorageClass/v1/storage.k8s.io", "PersistentVolume PersistentVolumeClaim", "spec/storageClassName"],
  ["StorageClass/v1/storage.k8s.io", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"],
  [
    "PriorityClass/v1/scheduling.k8s.io",
    "Pod Deployment DaemonSet StatefulSet ReplicationController Job CronJob",
    "~/priorityClassName",
  ],
  [
    "Role//rbac.authorization.k8s.io ClusterRole//rbac.authorization.k8s.io",
    "RoleBinding//rbac.authorization.k8s.io",
    "roleRef/name",
  ],
  ["ClusterRole//rbac.authorization.k8s.io", "ClusterRoleBinding//rbac.authorization.k8s.io", "roleRef/name"],
  [
    "ServiceAccount/v1",
    "RoleBinding//rbac.authorization.k8s.io ClusterRoleBinding//rbac.authorization.k8s.io",
    "subjects",
  ],
  ["Service/v1", "APIService//apiregistration.k8s.io", "spec/service/name"],
  [
    "Service/v1",
    "ValidatingWebhookConfiguration//admissionregistration.k8s.io MutatingWebhookConfiguration//admissionregistration.k8s.io",
    "webhooks/clientConfig/service",
  ],
  // No group has a slash, so nothing is renamed here; but kustomize refuses the field if it has the wrong type.
  ["IngressClass/v1/networking.k8s.io/v1", "Ingress", "spec/ingressClassName"],
  [
    "ValidatingAdmissionPolicy//admissionregistration.k8s.io",
    "ValidatingAdmissionPolicyBinding//admissionregistration.k8s.io",
    "spec/policyName",
  ],
];

const podSpecs: Readonly<Record<string, string>> = {
  Pod: "spec",
  PodTemplate: "template/spec",
  CronJob: "spec/jobTemplate/spec/template/spec",
};

/** A kind as kustomize selects it. An empty version or group selects all of them. */
export interface KindSelector {
  readonly kind: string;
  readonly version: string;
  readonly group: string;
}

/** A field that may hold the name of an object of these kinds; each field is in one row of the table. A path does not name lists. */
export interface NameReference {
  readonly referrer: KindSelector;
  readonly path: readonly string[];
  readonly targets: readonly KindSelector[];
}

/** kustomize's table, by the kind of the object that refers. */
export const nameReferences: ReadonlyMap<string, readonly NameReference[]> = Map.groupBy(
  table.flatMap(([targets, referrers, paths]) =>
    readSelectors(referrers).flatMap((referrer) =>
      paths.split(" ").map((path) => ({ referrer, path: readPath(path, referrer), targets: readSelectors(targets) })),
    ),
  ),
  ({ referrer }) => referrer.kind,
);

function readSelectors(text: string): readonly KindSelector[] {
  return text.split(" ").map((selector) => {
    const [kind = "", version = "", ...group] = selector.split("/");
    return { kind, version, group: group.join("/") };
  });
}

function readPath(path: string, { kind }: KindSelector): readonly string[] {
  return path
    .replace("~", podSpecs[kind] ?? "spec/template/spec")
    .split("/")
    .map((name) => name.replace("\\", "/"));
}

export function isSelected(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  selector: KindSelector,
): boolean {
  const slash = apiVersion.indexOf("/");
  return (
    kind === selector.kind &&
    (selector.version === "" || selector.version === apiVersion.slice(slash + 1)) &&
    (selector.group === "" || selector.group === apiVersion.slice(0, Math.max(slash, 0)))
  );
}

/** Whether a mapping is a reference that kustomize takes: others it refuses, or it breaks. */
export function isReference({ kind, name, namespace }: JsonObject): boolean {
  return typeof name === "string" && [kind, namespace].every((text) => text === undefined || typeof text === "string");
}

/**
 * The value with other references in the field at the path, of which there are several behind a list. Throws {@link Undecided}
 * where kustomize refuses the type of a field.
 *
 * @param change what becomes of a reference: a name, or a mapping that should have a name
 */
export function withReferencesAt(
  value: Json,
  path: readonly string[],
  change: (reference: string | JsonObject) => Json,
): Json {
  if (value === null) return value;
  const [field, ...rest] = path;
  if (isJsonList(value)) {
    return mapped(value, (item) => {
      if (field === undefined && isJsonList(item)) throw new Undecided("a reference that is a list of lists");
      return withReferencesAt(item, path, change);
    });
  }
  if (field === undefined) {
    if (isJsonObject(value)) return change(value);
    if (typeof value !== "string") throw new Undecided("a reference that is not a text");
    return change(value);
  }
  if (!isJsonObject(value)) throw new Undecided("a scalar on the way to a reference");
  return withField(value, field, (inner) => withReferencesAt(inner, rest, change));
}

function mapped(list: readonly Json[], change: (item: Json) => Json): Json {
  const items = list.map(change);
  return items.some((item, index) => item !== list[index]) ? items : list;
}

/** The same mapping where nothing has changed: most objects refer to nothing that is renamed. */
function withField(mapping: JsonObject, field: string, change: (value: Json) => Json): JsonObject {
  const value = mapping[field];
  if (value === undefined) return mapping;
  const changed = change(value);
  return changed === value ? mapping : { ...mapping, [field]: changed };
}
