import type { ApiObject, Gvk } from "../core/api-object.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { mapItems, mapObject, objectOf, textOf, withDefaults, without } from "../core/json-fields.ts";
import { builtinSchema } from "../schema/builtin-schema.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { autoscalerDefaults } from "./defaults/autoscaler-defaults.ts";
import {
  admissionPolicyDefaults,
  bindingDefaults,
  crdDefaults,
  csiDriverDefaults,
  limitRangeDefaults,
  matchDefaults,
  webhookDefaults,
} from "./defaults/cluster-defaults.ts";
import { podSpecDefaults } from "./defaults/pod-defaults.ts";
import { schemaDefaults } from "./defaults/schema-defaults.ts";
import { endpointsDefaults, networkPolicyDefaults, serviceDefaults } from "./defaults/service-defaults.ts";
import {
  claimDefaults,
  cronJobDefaults,
  daemonSetDefaults,
  deploymentDefaults,
  jobDefaults,
  replicaSetDefaults,
  statefulSetDefaults,
  templateDefaults,
  withTemplateGeneration,
} from "./defaults/workload-defaults.ts";

type Defaults = (object: JsonObject) => JsonObject;

/** Fills in what a real API server fills in: the schema's defaults and the kind's own. Idempotent. */
export function defaultObject(object: ApiObject, gvk: Gvk, schema: TypeSchema): ApiObject {
  if (builtinSchema(gvk) === undefined) return schemaDefaults(object, schema, false);
  const defaulted = schemaDefaults(object, schema, true);
  return kindDefaults[`${gvk.group}/${gvk.kind}`]?.(defaulted, gvk) ?? defaulted;
}

const kindDefaults: Readonly<Record<string, (object: JsonObject, gvk: Gvk) => JsonObject>> = {
  "/Namespace": namespaceDefaults,
  "/Pod": ofSpec((spec) => podSpecDefaults(spec, true)),
  "/PodTemplate": templateDefaults,
  "/ReplicationController": replicationControllerDefaults,
  "/Service": ofSpec(serviceDefaults),
  "/Endpoints": endpointsDefaults,
  "/Secret": secretDefaults,
  "/LimitRange": ofSpec(limitRangeDefaults),
  "/PersistentVolumeClaim": claimDefaults,
  "/PersistentVolume": volumeDefaults,
  "apps/Deployment": ofSpec(deploymentDefaults),
  "apps/DaemonSet": (set) => withTemplateGeneration(ofSpec(daemonSetDefaults)(set)),
  "apps/StatefulSet": ofSpec(statefulSetDefaults),
  "apps/ReplicaSet": ofSpec(replicaSetDefaults),
  "batch/Job": (job) => withTemplateLabels(ofSpec(jobDefaults)(job)),
  "batch/CronJob": ofSpec(cronJobDefaults),
  "autoscaling/HorizontalPodAutoscaler": horizontalPodAutoscalerDefaults,
  "networking.k8s.io/NetworkPolicy": ofSpec(networkPolicyDefaults),
  "networking.k8s.io/IngressClass": ofSpec((spec) =>
    mapObject(spec, "parameters", (parameters) => withDefaults(parameters, { scope: "Cluster" })),
  ),
  "rbac.authorization.k8s.io/RoleBinding": bindingDefaults,
  "rbac.authorization.k8s.io/ClusterRoleBinding": bindingDefaults,
  "storage.k8s.io/StorageClass": (object) =>
    withDefaults(object, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  "storage.k8s.io/CSIDriver": ofSpec((spec) => withDefaults(spec, csiDriverDefaults)),
  "scheduling.k8s.io/PriorityClass": (object) => withDefaults(object, { preemptionPolicy: "PreemptLowerPriority" }),
  "discovery.k8s.io/EndpointSlice": (object) =>
    mapItems(object, "ports", (port) => withDefaults(port, { name: "", protocol: "TCP" })),
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": (object) =>
    mapItems(object, "webhooks", (webhook) => webhookDefaults(webhook, true)),
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": (object) =>
    mapItems(object, "webhooks", (webhook) => webhookDefaults(webhook, false)),
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": ofSpec(admissionPolicyDefaults),
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": ofSpec((spec) =>
    mapObject(spec, "matchResources", matchDefaults),
  ),
  "apiextensions.k8s.io/CustomResourceDefinition": ofSpec(crdDefaults),
};

function ofSpec(defaults: Defaults): Defaults {
  return (object) => ({ ...object, spec: defaults(objectOf(object, "spec") ?? {}) });
}

/** Of v2 also the list of metrics in the status, which is written even when there are none. */
function horizontalPodAutoscalerDefaults(object: JsonObject, { version }: Gvk): JsonObject {
  if (version === "v1") return ofSpec((spec) => withDefaults(spec, { minReplicas: 1 }))(object);
  return mapObject(ofSpec(autoscalerDefaults)(object), "status", (status) =>
    withDefaults(status, { currentMetrics: null }),
  );
}

function namespaceDefaults(namespace: JsonObject): JsonObject {
  const metadata = objectOf(namespace, "metadata") ?? {};
  const name = textOf(metadata, "name");
  if (name === "") return namespace;
  const labels = { ...objectOf(metadata, "labels"), "kubernetes.io/metadata.name": name };
  return { ...namespace, metadata: { ...metadata, labels } };
}

/** A controller without labels or selector takes its template's labels. */
function replicationControllerDefaults(controller: JsonObject): JsonObject {
  const labelled = withTemplateLabels(ofSpec(replicaSetDefaults)(controller));
  const labels = templateLabels(labelled);
  return labels === undefined
    ? labelled
    : mapObject(labelled, "spec", (spec) => withDefaults(spec, { selector: labels }));
}

function withTemplateLabels(workload: JsonObject): JsonObject {
  const labels = templateLabels(workload);
  return labels === undefined
    ? workload
    : { ...workload, metadata: withDefaults(objectOf(workload, "metadata") ?? {}, { labels }) };
}

function templateLabels(workload: JsonObject): JsonObject | undefined {
  return objectOf(objectOf(objectOf(objectOf(workload, "spec"), "template"), "metadata"), "labels");
}

function volumeDefaults(volume: JsonObject): JsonObject {
  const withSpec = mapObject(volume, "spec", (spec) =>
    withDefaults(
      mapObject(spec, "hostPath", (path) => withDefaults(path, { type: "" })),
      { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" },
    ),
  );
  return { ...withSpec, status: withDefaults(objectOf(withSpec, "status") ?? {}, { phase: "Pending" }) };
}

/** `stringData` is only ever written: each key becomes base64 in `data`, before the owners of fields are recorded. */
function secretDefaults(secret: JsonObject): JsonObject {
  const typed = textOf(secret, "type") === "" ? { ...secret, type: "Opaque" } : secret;
  const texts = objectOf(typed, "stringData");
  if (texts === undefined) return typed;
  const encoded = Object.entries(texts).map(([key, text]) => [key, base64(text)] as const);
  const data = { ...objectOf(typed, "data"), ...Object.fromEntries(encoded) };
  const rest = without(typed, "stringData");
  return Object.keys(data).length > 0 ? { ...rest, data } : rest;
}

function base64(text: Json): string {
  return Buffer.from(typeof text === "string" ? text : "").toString("base64");
}
