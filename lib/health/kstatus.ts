import type { LiveObject } from "../core/manifest.ts";
import { parseApiVersion } from "../core/object-ref.ts";
import { conditionsOf, numberAt, objectAt } from "./fields.ts";
import { podStatus } from "./pod-status.ts";
import type { Status } from "./status.ts";
import {
  daemonSetStatus,
  deploymentStatus,
  jobStatus,
  replicaSetStatus,
  statefulSetStatus,
} from "./workload-status.ts";

type Rule = (object: LiveObject, now: number) => Status;

const ruleByKind: Readonly<Record<string, Rule>> = {
  "/ConfigMap": () => "Current",
  "/PersistentVolumeClaim": (claim) => (objectAt(claim, "status")["phase"] === "Bound" ? "Current" : "InProgress"),
  "/Pod": podStatus,
  "/Secret": () => "Current",
  "/Service": serviceStatus,
  "apiextensions.k8s.io/CustomResourceDefinition": definitionStatus,
  "apps/DaemonSet": daemonSetStatus,
  "apps/Deployment": deploymentStatus,
  "apps/ReplicaSet": replicaSetStatus,
  "apps/StatefulSet": statefulSetStatus,
  "batch/CronJob": () => "Current",
  "batch/Job": jobStatus,
  "extensions/Deployment": deploymentStatus,
  "policy/PodDisruptionBudget": () => "Current",
};

/**
 * The status of an object by kstatus' rules as Flux has them (reference 3.17). Pure; `now` is wall time in milliseconds.
 * What a set's Pods say is left to the caller, since it takes another look at the cluster.
 */
export function kstatus(object: LiveObject, now: number): Status {
  const generic = genericStatus(object);
  if (generic !== undefined) return generic;
  const rule = ruleByKind[`${parseApiVersion(object.apiVersion).group}/${object.kind}`] ?? readyConditionStatus;
  return rule(object, now);
}

function genericStatus(object: LiveObject): Status | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return "Terminating";
  const generation = object.metadata.generation ?? 0;
  if (numberAt(objectAt(object, "status"), "observedGeneration", generation) !== generation) return "InProgress";
  for (const { type, status } of conditionsOf(object)) {
    if (status !== "True") continue;
    if (type === "Reconciling") return "InProgress";
    if (type === "Stalled") return "Failed";
  }
  return undefined;
}

function readyConditionStatus(object: LiveObject): Status {
  const ready = conditionsOf(object).find(({ type }) => type === "Ready");
  return ready === undefined || ready.status === "True" ? "Current" : "InProgress";
}

function serviceStatus(service: LiveObject): Status {
  const { type, clusterIP } = objectAt(service, "spec");
  return type === "LoadBalancer" && (clusterIP === undefined || clusterIP === "") ? "InProgress" : "Current";
}

function definitionStatus(definition: LiveObject): Status {
  for (const { type, status, reason } of conditionsOf(definition)) {
    if (type === "NamesAccepted" && status === "False") return "Failed";
    if (type !== "Established") continue;
    if (status === "True") return "Current";
    if (status === "False" && reason !== "Installing") return "Failed";
  }
  return "InProgress";
}
