import { isJsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import { parseApiVersion } from "../core/object-ref.ts";
import { conditionsOf, numberAt, objectAt, type Status } from "./fields.ts";
import { unreadableConditions, unreadableGeneration } from "./unreadable-status.ts";

const maxInt32 = 2_147_483_647;

/** How long a Pod may be unschedulable before it counts as failed, as in kstatus. */
const unschedulableGraceMs = 15_000;

/** What kstatus says of an object. The message says why an object is not Current, or cannot be judged; it is empty where nothing is known. */
export interface KStatus {
  readonly status: Status;
  readonly message: string;
}

type Rule = (object: LiveObject, now: number) => KStatus;

const current: KStatus = { status: "Current", message: "" };
const inProgress = (message: string): KStatus => ({ status: "InProgress", message });
const failed = (message: string): KStatus => ({ status: "Failed", message });
const unknown = (message: string): KStatus => ({ status: "Unknown", message });

const ruleByKind: Readonly<Record<string, Rule>> = {
  "/ConfigMap": () => current,
  "/PersistentVolumeClaim": claimStatus,
  "/Pod": podStatus,
  "/Secret": () => current,
  "/Service": serviceStatus,
  "apiextensions.k8s.io/CustomResourceDefinition": definitionStatus,
  "apps/DaemonSet": daemonSetStatus,
  "apps/Deployment": deploymentStatus,
  "apps/ReplicaSet": replicaSetStatus,
  "apps/StatefulSet": statefulSetStatus,
  "batch/CronJob": () => current,
  "batch/Job": jobStatus,
  "extensions/Deployment": deploymentStatus,
  "policy/PodDisruptionBudget": () => current,
};

/**
 * The status of an object by kstatus' rules, with Flux's changes (reference 3.17) and kstatus' messages. Pure; `now` is wall time in
 * milliseconds. The Pods of a set are not considered here: the caller reads them from the cluster and asks {@link isFailedPod}.
 */
export function kstatus(object: LiveObject, now: number): KStatus {
  const generic = genericStatus(object);
  if (generic !== undefined) return generic;
  const rule = ruleByKind[`${parseApiVersion(object.apiVersion).group}/${object.kind}`] ?? readyConditionStatus;
  return rule(object, now);
}

function genericStatus(object: LiveObject): KStatus | undefined {
  const { deletionTimestamp, generation } = object.metadata;
  if (deletionTimestamp !== undefined) return { status: "Terminating", message: "Resource scheduled for deletion" };
  if (generation !== undefined) {
    const unreadable = unreadableGeneration(object);
    if (unreadable !== undefined) return unknown(unreadable);
    const observed = numberAt(objectAt(object, "status"), "observedGeneration", generation);
    if (observed !== generation) {
      return inProgress(`${object.kind} generation is ${generation}, but latest observed generation is ${observed}`);
    }
  }
  const unreadable = unreadableConditions(object);
  if (unreadable !== undefined) return unknown(unreadable);
  for (const { type, status, message } of conditionsOf(object)) {
    if (status !== "True") continue;
    if (type === "Reconciling") return inProgress(message);
    if (type === "Stalled") return failed(message);
  }
  return undefined;
}

const readyStatuses: readonly string[] = ["True", "False", "Unknown"];

/** A Ready condition with any other status counts as none. */
function readyConditionStatus(object: LiveObject): KStatus {
  const ready = conditionsOf(object).find(({ type, status }) => type === "Ready" && readyStatuses.includes(status));
  return ready === undefined || ready.status === "True" ? current : inProgress(ready.message);
}

function claimStatus(claim: LiveObject): KStatus {
  const { phase = "unknown" } = objectAt(claim, "status");
  return phase === "Bound" ? current : inProgress(`PVC is not Bound. phase: ${String(phase)}`);
}

function serviceStatus(service: LiveObject): KStatus {
  const { type, clusterIP = "" } = objectAt(service, "spec");
  if (type !== "LoadBalancer" || clusterIP !== "") return current;
  return inProgress("ClusterIP not set. Service type: LoadBalancer");
}

function definitionStatus(definition: LiveObject): KStatus {
  for (const { type, status, reason, message } of conditionsOf(definition)) {
    if (type === "NamesAccepted" && status === "False") return failed(message);
    if (type !== "Established") continue;
    if (status === "True") return current;
    if (status === "False" && reason !== "Installing") return failed(message);
  }
  return inProgress("Install in progress");
}

/** Each rule of a workload is a list of reasons to wait, in kstatus' order. If none of them holds, the object is Current. */
function currentUnless(...waits: readonly (string | undefined)[]): KStatus {
  const wait = waits.find((message) => message !== undefined);
  return wait === undefined ? current : inProgress(wait);
}

/** `what: have/want` while there are fewer than wanted. */
function fewer(what: string, have: number, want: number): string | undefined {
  return want > have ? `${what}: ${have}/${want}` : undefined;
}

function tooMany(total: number, wanted: number): string | undefined {
  return total > wanted ? `Pending termination: ${total - wanted}` : undefined;
}

function deploymentStatus(deployment: LiveObject): KStatus {
  const spec = objectAt(deployment, "spec");
  const status = objectAt(deployment, "status");
  const conditions = conditionsOf(deployment);
  const progressing = conditions.find(({ type }) => type === "Progressing");
  if (progressing?.reason === "ProgressDeadlineExceeded") return failed("Progress deadline exceeded");
  const wanted = numberAt(spec, "replicas", 1);
  const total = numberAt(status, "replicas", 0);
  const updated = numberAt(status, "updatedReplicas", 0);
  const deadline = numberAt(spec, "progressDeadlineSeconds", maxInt32);
  const rolledOut = progressing?.status === "True" && progressing.reason === "NewReplicaSetAvailable";
  const isAvailable = conditions.some(({ type, status: value }) => type === "Available" && value === "True");
  return currentUnless(
    fewer("Replicas", total, wanted),
    fewer("Updated", updated, wanted),
    tooMany(total, wanted),
    fewer("Available", numberAt(status, "availableReplicas", 0), updated),
    fewer("Ready", numberAt(status, "readyReplicas", 0), wanted),
    deadline !== maxInt32 && !rolledOut ? "ReplicaSet not Available" : undefined,
    isAvailable ? undefined : "Deployment not Available",
  );
}

function statefulSetStatus(statefulSet: LiveObject): KStatus {
  const spec = objectAt(statefulSet, "spec");
  const status = objectAt(statefulSet, "status");
  if (objectAt(spec, "updateStrategy")["type"] === "OnDelete") return current;
  const wanted = numberAt(spec, "replicas", 1);
  const total = numberAt(status, "replicas", 0);
  const scale = currentUnless(
    fewer("Replicas", total, wanted),
    fewer("Ready", numberAt(status, "readyReplicas", 0), wanted),
    tooMany(total, wanted),
  );
  if (scale !== current) return scale;
  const { partition } = objectAt(spec, "updateStrategy", "rollingUpdate");
  // The API server sets it to 0 if it is missing.
  if (typeof partition === "number") {
    return currentUnless(fewer("updated", numberAt(status, "updatedReplicas", 0), wanted - partition));
  }
  return currentUnless(
    fewer("current", numberAt(status, "currentReplicas", 0), wanted),
    status["currentRevision"] === status["updateRevision"]
      ? undefined
      : "Waiting for updated revision to match current",
  );
}

function replicaSetStatus(replicaSet: LiveObject): KStatus {
  const status = objectAt(replicaSet, "status");
  const wanted = numberAt(objectAt(replicaSet, "spec"), "replicas", 1);
  const hasFailure = conditionsOf(replicaSet).some(
    ({ type, status: value }) => type === "ReplicaFailure" && value === "True",
  );
  return currentUnless(
    hasFailure ? "Replica Failure condition. Check Pods" : undefined,
    fewer("Labelled", numberAt(status, "fullyLabeledReplicas", 0), wanted),
    fewer("Available", numberAt(status, "availableReplicas", 0), wanted),
    fewer("Ready", numberAt(status, "readyReplicas", 0), wanted),
    tooMany(numberAt(status, "replicas", 0), wanted),
  );
}

function daemonSetStatus(daemonSet: LiveObject): KStatus {
  const status = objectAt(daemonSet, "status");
  const wanted = numberAt(status, "desiredNumberScheduled", -1);
  if (daemonSet.metadata.generation === undefined) return inProgress("DaemonSet metadata.generation not found");
  if (status["observedGeneration"] === undefined) return inProgress("DaemonSet status.observedGeneration not found");
  return currentUnless(
    wanted === -1 ? "Missing .status.desiredNumberScheduled" : undefined,
    fewer("Current", numberAt(status, "currentNumberScheduled", 0), wanted),
    fewer("Updated", numberAt(status, "updatedNumberScheduled", 0), wanted),
    fewer("Available", numberAt(status, "numberAvailable", 0), wanted),
    fewer("Ready", numberAt(status, "numberReady", 0), wanted),
  );
}

/** Flux's rule, which differs from kstatus: a running Job is not Current, a suspended one is. */
function jobStatus(job: LiveObject): KStatus {
  const spec = objectAt(job, "spec");
  const status = objectAt(job, "status");
  if (spec["suspend"] === true) return current;
  const holds = (wanted: string) => conditionsOf(job).some(({ type, status: is }) => type === wanted && is === "True");
  if (holds("Complete")) return current;
  const count = (name: string) => numberAt(status, name, 0);
  const completions = numberAt(spec, "completions", numberAt(spec, "parallelism", 1));
  if (holds("Failed")) return failed(`Job Failed. failed: ${count("failed")}/${completions}`);
  if (status["startTime"] === undefined) return inProgress("Job not started");
  return inProgress(
    `Job in progress. success:${count("succeeded")}, active: ${count("active")}, failed: ${count("failed")}`,
  );
}

/** A Pod in phase Failed is Current, as in kstatus: it has ended and will not change again. */
function podStatus(pod: LiveObject, now: number): KStatus {
  const status = objectAt(pod, "status");
  switch (status["phase"]) {
    case "Succeeded":
    case "Failed":
      return current;
    case "Running": {
      if (conditionsOf(pod).some(({ type, status: value }) => type === "Ready" && value === "True")) return current;
      const looping = crashLooping(status["containerStatuses"]);
      if (looping.length > 0) return failed(`Containers in CrashLoop state: ${looping.join(",")}`);
      return inProgress("Pod is running but is not Ready");
    }
    case "Pending": {
      if (!isUnschedulable(pod)) return inProgress("Pod is in the Pending phase");
      const age = now - Date.parse(pod.metadata.creationTimestamp ?? "");
      return age > unschedulableGraceMs
        ? failed("Pod could not be scheduled")
        : inProgress("Pod has not been scheduled");
    }
    case undefined:
    case "":
      return inProgress("Pod phase not available");
    default:
      return unknown(`unknown phase ${String(status["phase"])}`);
  }
}

/** Whether this Pod makes the set that owns it Failed: it has failed, is not being deleted and is not unschedulable. */
export function isFailedPod(pod: LiveObject): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || isUnschedulable(pod)) return false;
  return podStatus(pod, 0).status === "Failed" || objectAt(pod, "status")["phase"] === "Failed";
}

function isUnschedulable(pod: LiveObject): boolean {
  return conditionsOf(pod).some(
    ({ type, status, reason }) => type === "PodScheduled" && status === "False" && reason === "Unschedulable",
  );
}

/** The names of the containers that crash again and again. */
function crashLooping(containerStatuses: unknown): readonly string[] {
  if (!Array.isArray(containerStatuses)) return [];
  return containerStatuses
    .filter(isJsonObject)
    .filter((container) => objectAt(container, "state", "waiting")["reason"] === "CrashLoopBackOff")
    .map(({ name }) => (typeof name === "string" ? name : ""));
}
