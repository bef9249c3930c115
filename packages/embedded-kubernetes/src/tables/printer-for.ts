import type { Resource } from "../resource/resource.ts";
import { ageOf } from "./age.ts";
import {
  configMapPrinter,
  definitionPrinter,
  eventPrinter,
  leasePrinter,
  namespacePrinter,
  nodePrinter,
  priorityClassPrinter,
  revisionPrinter,
  runtimeClassPrinter,
  secretPrinter,
  serviceAccountPrinter,
  webhooksPrinter,
} from "./cluster-printers.ts";
import { customPrinter } from "./custom-printer.ts";
import { endpointSlicePrinter, endpointsPrinter } from "./endpoint-printers.ts";
import { ingressClassPrinter, ingressPrinter, networkPolicyPrinter, servicePrinter } from "./network-printers.ts";
import { podPrinter } from "./pod-printer.ts";
import {
  autoscalerPrinter,
  bindingPrinter,
  disruptionBudgetPrinter,
  limitRangePrinter,
  quotaPrinter,
  rolePrinter,
} from "./policy-printers.ts";
import { claimPrinter, storageClassPrinter, volumePrinter } from "./storage-printers.ts";
import { ageColumn, metadataText, nameColumn, type Printer } from "./table.ts";
import {
  cronJobPrinter,
  daemonSetPrinter,
  deploymentPrinter,
  jobPrinter,
  replicaSetPrinter,
  statefulSetPrinter,
} from "./workload-printers.ts";

/** How objects of a resource are shown in a Table; kinds that we show no better have name and age. */
export function printerFor({ group, kind, custom }: Resource): Printer {
  if (custom !== undefined) return customPrinter(custom);
  return printers[`${group}/${kind}`] ?? plain;
}

const plain: Printer = {
  columns: [nameColumn, ageColumn],
  cells: (object, now) => [metadataText(object, "name"), ageOf(object, now)],
};

const printers: Readonly<Record<string, Printer>> = {
  "/ConfigMap": configMapPrinter,
  "/Endpoints": endpointsPrinter,
  "/Event": eventPrinter,
  "/LimitRange": limitRangePrinter,
  "/PersistentVolume": volumePrinter,
  "/ResourceQuota": quotaPrinter,
  "/Namespace": namespacePrinter,
  "/Node": nodePrinter,
  "/PersistentVolumeClaim": claimPrinter,
  "/Pod": podPrinter,
  "/ReplicationController": replicaSetPrinter,
  "/Secret": secretPrinter,
  "/Service": servicePrinter,
  "/ServiceAccount": serviceAccountPrinter,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": webhooksPrinter,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhooksPrinter,
  "apiextensions.k8s.io/CustomResourceDefinition": definitionPrinter,
  "apps/ControllerRevision": revisionPrinter,
  "apps/DaemonSet": daemonSetPrinter,
  "apps/Deployment": deploymentPrinter,
  "apps/ReplicaSet": replicaSetPrinter,
  "apps/StatefulSet": statefulSetPrinter,
  "autoscaling/HorizontalPodAutoscaler": autoscalerPrinter,
  "batch/CronJob": cronJobPrinter,
  "batch/Job": jobPrinter,
  "coordination.k8s.io/Lease": leasePrinter,
  "discovery.k8s.io/EndpointSlice": endpointSlicePrinter,
  "events.k8s.io/Event": eventPrinter,
  "networking.k8s.io/Ingress": ingressPrinter,
  "networking.k8s.io/IngressClass": ingressClassPrinter,
  "networking.k8s.io/NetworkPolicy": networkPolicyPrinter,
  "node.k8s.io/RuntimeClass": runtimeClassPrinter,
  "policy/PodDisruptionBudget": disruptionBudgetPrinter,
  "rbac.authorization.k8s.io/ClusterRole": rolePrinter,
  "rbac.authorization.k8s.io/ClusterRoleBinding": bindingPrinter,
  "rbac.authorization.k8s.io/Role": rolePrinter,
  "rbac.authorization.k8s.io/RoleBinding": bindingPrinter,
  "scheduling.k8s.io/PriorityClass": priorityClassPrinter,
  "storage.k8s.io/StorageClass": storageClassPrinter,
};
