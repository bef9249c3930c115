import type { FieldError } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import { claimSpecDifference, podSpecDifference, printedTemplate } from "./go-difference.ts";
import { podUpdateErrors } from "./pod-update.ts";
import { validateCrd } from "./validate-crd.ts";
import { bindingErrors, bindingUpdateErrors, roleErrors } from "./validation/access.ts";
import { autoscalerSpecErrors, disruptionBudgetSpecErrors } from "./validation/autoscalers.ts";
import { configMapErrors, immutableErrors, secretErrors } from "./validation/configuration.ts";
import { imageSpaceErrors } from "./validation/containers.ts";
import { cronJobNameErrors, cronJobSpecErrors, jobSpecErrors, jobUpdateErrors } from "./validation/jobs.ts";
import { dnsLabel, pathSegmentName, serviceName } from "./validation/name-rules.ts";
import { ingressClassErrors, ingressSpecErrors, networkPolicySpecErrors } from "./validation/networking.ts";
import { podSpecErrors } from "./validation/pod-spec.ts";
import {
  csiDriverUpdateErrors,
  endpointSliceErrors,
  eventErrors,
  leaseErrors,
  namespaceStatusErrors,
  nodeErrors,
  runtimeClassErrors,
} from "./validation/registrations.ts";
import { serviceSpecErrors, serviceUpdateErrors } from "./validation/services.ts";
import {
  claimSpecErrors,
  claimUpdateErrors,
  limitRangeSpecErrors,
  priorityClassErrors,
  priorityClassUpdateErrors,
  quotaSpecErrors,
  storageClassErrors,
  storageClassUpdateErrors,
  volumeSpecErrors,
  volumeUpdateErrors,
} from "./validation/storage.ts";
import { webhooksErrors } from "./validation/webhooks.ts";
import {
  daemonSetSpecErrors,
  deploymentSpecErrors,
  immutable,
  immutableSelector,
  replicaSetSpecErrors,
  statefulSetSpecErrors,
  statefulSetUpdateErrors,
} from "./validation/workloads.ts";

/** How a kind is checked. All functions see the whole object, canonical and with its defaults. */
export interface KindRules {
  readonly name?: (name: string) => readonly string[];
  /** Errors besides the metadata, of a create. */
  readonly body?: (object: JsonObject, namespaced: boolean) => readonly FieldError[];
  /** Errors of an update alone: what may not change. */
  readonly update?: (object: JsonObject, old: JsonObject, namespaced: boolean) => readonly FieldError[];
  /**
   * Whether an update looks at body and metadata in full (`whole`), at the body alone, or at neither; `twice`: first as
   * a create does, then at the body again, as some strategies do, so that the causes come in pairs; `before`: as a
   * create does, and then at what may not change.
   */
  readonly onUpdate?: "whole" | "body" | "none" | "twice" | "before";
  /** Whether the update's own errors come before those of the body. */
  readonly updateFirst?: boolean;
  readonly status?: (object: JsonObject, old: JsonObject) => readonly FieldError[];
}

type Body = (spec: JsonObject) => readonly FieldError[];
type Update = (spec: JsonObject, before: JsonObject) => readonly FieldError[];

function ofSpec(check: Body): (object: JsonObject) => readonly FieldError[] {
  return (object) => check(specOf(object));
}

function ofSpecs(check: Update): (object: JsonObject, old: JsonObject) => readonly FieldError[] {
  return (object, old) => check(specOf(object), specOf(old));
}

function specOf(object: JsonObject): JsonObject {
  return objectOf(object, "spec") ?? {};
}

const role: KindRules = { name: pathSegmentName, body: roleErrors, onUpdate: "whole" };
const binding: KindRules = {
  name: pathSegmentName,
  body: bindingErrors,
  update: bindingUpdateErrors,
  onUpdate: "whole",
};

/** How each built-in kind is checked, by `GROUP/KIND`; a kind that is not here has its metadata checked. */
export const kindRules: Readonly<Record<string, KindRules>> = {
  "/ConfigMap": {
    body: configMapErrors,
    update: (object, old) => immutableErrors(object, old, ["data", "binaryData"]),
    onUpdate: "whole",
    updateFirst: true,
  },
  "/Secret": {
    body: secretErrors,
    update: (object, old) => [
      ...immutable("type", object["type"], old["type"]),
      ...immutableErrors(object, old, ["data"]),
    ],
    onUpdate: "whole",
    updateFirst: true,
  },
  "/Namespace": { name: dnsLabel, onUpdate: "before", status: namespaceStatusErrors },
  "/Service": {
    name: serviceName,
    body: ofSpec(serviceSpecErrors),
    update: ofSpecs(serviceUpdateErrors),
    onUpdate: "whole",
    updateFirst: true,
  },
  "/Pod": {
    body: ofSpec((spec) => [
      ...podSpecErrors(spec, "spec"),
      ...imageSpaceErrors(objectsOf(spec, "containers"), "spec.containers"),
      ...imageSpaceErrors(objectsOf(spec, "initContainers"), "spec.initContainers"),
    ]),
    update: (object, old) => podUpdateErrors(specOf(object), specOf(old), podSpecDifference),
  },
  "/PersistentVolumeClaim": {
    body: ofSpec(claimSpecErrors),
    update: (object, old) => {
      const isBound = textOf(objectOf(old, "status"), "phase") === "Bound";
      return claimUpdateErrors(specOf(object), specOf(old), isBound, claimSpecDifference(specOf(object), specOf(old)));
    },
    onUpdate: "whole",
  },
  "/PersistentVolume": { body: ofSpec(volumeSpecErrors), update: ofSpecs(volumeUpdateErrors), onUpdate: "whole" },
  "/ResourceQuota": { body: ofSpec(quotaSpecErrors) },
  "/LimitRange": { body: ofSpec(limitRangeSpecErrors) },
  "/ReplicationController": { body: ofSpec(replicationControllerSpecErrors) },
  "/Node": { body: nodeErrors },
  "/Event": { body: eventErrors },
  "apps/Deployment": { body: ofSpec(deploymentSpecErrors), update: ofSpecs(immutableSelector) },
  "apps/DaemonSet": { body: ofSpec(daemonSetSpecErrors), update: ofSpecs(immutableSelector) },
  "apps/ReplicaSet": { body: ofSpec(replicaSetSpecErrors), update: ofSpecs(immutableSelector) },
  "apps/StatefulSet": { name: dnsLabel, body: ofSpec(statefulSetSpecErrors), update: ofSpecs(statefulSetUpdateErrors) },
  "batch/Job": {
    body: ofSpec(jobSpecErrors),
    update: ofSpecs((spec, before) => jobUpdateErrors(spec, before, printedTemplate(objectOf(spec, "template") ?? {}))),
    onUpdate: "twice",
  },
  "batch/CronJob": {
    body: (object) => [
      ...cronJobNameErrors(textOf(objectOf(object, "metadata"), "name")),
      ...cronJobSpecErrors(specOf(object)),
    ],
  },
  "autoscaling/HorizontalPodAutoscaler": { body: ofSpec(autoscalerSpecErrors) },
  "policy/PodDisruptionBudget": { body: ofSpec(disruptionBudgetSpecErrors) },
  "networking.k8s.io/Ingress": { body: ofSpec(ingressSpecErrors), onUpdate: "whole" },
  "networking.k8s.io/IngressClass": { body: ofSpec(ingressClassErrors), update: ofSpecs(ingressClassUpdateErrors) },
  "networking.k8s.io/NetworkPolicy": { body: ofSpec(networkPolicySpecErrors), onUpdate: "twice" },
  "rbac.authorization.k8s.io/Role": role,
  "rbac.authorization.k8s.io/ClusterRole": role,
  "rbac.authorization.k8s.io/RoleBinding": binding,
  "rbac.authorization.k8s.io/ClusterRoleBinding": binding,
  "storage.k8s.io/StorageClass": { body: storageClassErrors, update: storageClassUpdateErrors, onUpdate: "before" },
  "storage.k8s.io/CSIDriver": { update: csiDriverUpdateErrors },
  "scheduling.k8s.io/PriorityClass": { body: priorityClassErrors, update: priorityClassUpdateErrors, onUpdate: "none" },
  "coordination.k8s.io/Lease": { body: leaseErrors },
  "node.k8s.io/RuntimeClass": {
    body: runtimeClassErrors,
    update: (object, old) => immutable("handler", object["handler"], old["handler"]),
  },
  "discovery.k8s.io/EndpointSlice": {
    body: endpointSliceErrors,
    update: (object, old) => immutable("addressType", object["addressType"], old["addressType"]),
  },
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": { body: webhooksErrors },
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": { body: webhooksErrors },
  "apiextensions.k8s.io/CustomResourceDefinition": {
    body: (object) => validateCrd(object, undefined),
    update: (object, old) => validateCrd(object, old),
    onUpdate: "none",
  },
};

function ingressClassUpdateErrors(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  return immutable("spec.controller", spec["controller"], before["controller"]);
}

/** Its selector is a plain map of labels. */
function replicationControllerSpecErrors(spec: JsonObject): readonly FieldError[] {
  const matchLabels = objectOf(spec, "selector");
  return replicaSetSpecErrors(matchLabels === undefined ? spec : { ...spec, selector: { matchLabels } });
}
