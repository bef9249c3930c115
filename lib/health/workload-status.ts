import type { LiveObject } from "../core/manifest.ts";
import { conditionsOf, numberAt, objectAt } from "./fields.ts";
import type { Status } from "./status.ts";

const maxInt32 = 2_147_483_647;

/** Every rule of the workloads is a list of reasons to wait: none holds, and the object is Current. */
function currentUnless(...waits: readonly boolean[]): Status {
  return waits.includes(true) ? "InProgress" : "Current";
}

export function deploymentStatus(deployment: LiveObject): Status {
  const spec = objectAt(deployment, "spec");
  const status = objectAt(deployment, "status");
  const conditions = conditionsOf(deployment);
  const progressing = conditions.find(({ type }) => type === "Progressing");
  if (progressing?.reason === "ProgressDeadlineExceeded") return "Failed";
  const wanted = numberAt(spec, "replicas", 1);
  const total = numberAt(status, "replicas", 0);
  const updated = numberAt(status, "updatedReplicas", 0);
  const deadline = numberAt(spec, "progressDeadlineSeconds", maxInt32);
  const rolledOut = progressing?.status === "True" && progressing.reason === "NewReplicaSetAvailable";
  return currentUnless(
    wanted > total,
    wanted > updated,
    total > wanted,
    updated > numberAt(status, "availableReplicas", 0),
    wanted > numberAt(status, "readyReplicas", 0),
    deadline !== maxInt32 && !rolledOut,
    !conditions.some(({ type, status: value }) => type === "Available" && value === "True"),
  );
}

export function statefulSetStatus(statefulSet: LiveObject): Status {
  const spec = objectAt(statefulSet, "spec");
  const status = objectAt(statefulSet, "status");
  if (objectAt(spec, "updateStrategy")["type"] === "OnDelete") return "Current";
  const wanted = numberAt(spec, "replicas", 1);
  const total = numberAt(status, "replicas", 0);
  if (wanted > total || wanted > numberAt(status, "readyReplicas", 0) || total > wanted) return "InProgress";
  const partition = numberAt(objectAt(spec, "updateStrategy", "rollingUpdate"), "partition", 0);
  if (partition > 0) return currentUnless(numberAt(status, "updatedReplicas", 0) < wanted - partition);
  return currentUnless(
    wanted > numberAt(status, "currentReplicas", 0),
    status["currentRevision"] !== status["updateRevision"],
  );
}

export function replicaSetStatus(replicaSet: LiveObject): Status {
  const status = objectAt(replicaSet, "status");
  const wanted = numberAt(objectAt(replicaSet, "spec"), "replicas", 1);
  return currentUnless(
    conditionsOf(replicaSet).some(({ type, status: value }) => type === "ReplicaFailure" && value === "True"),
    wanted > numberAt(status, "fullyLabeledReplicas", 0),
    wanted > numberAt(status, "availableReplicas", 0),
    wanted > numberAt(status, "readyReplicas", 0),
    numberAt(status, "replicas", 0) > wanted,
  );
}

export function daemonSetStatus(daemonSet: LiveObject): Status {
  const status = objectAt(daemonSet, "status");
  const wanted = numberAt(status, "desiredNumberScheduled", -1);
  if (daemonSet.metadata.generation === undefined || status["observedGeneration"] === undefined) return "InProgress";
  return currentUnless(
    wanted === -1,
    wanted > numberAt(status, "currentNumberScheduled", 0),
    wanted > numberAt(status, "updatedNumberScheduled", 0),
    wanted > numberAt(status, "numberAvailable", 0),
    wanted > numberAt(status, "numberReady", 0),
  );
}

/** Flux's rule, not stock kstatus: a running Job is not Current, a suspended one is. */
export function jobStatus(job: LiveObject): Status {
  if (objectAt(job, "spec")["suspend"] === true) return "Current";
  const holds = (wanted: string) => conditionsOf(job).some(({ type, status }) => type === wanted && status === "True");
  if (holds("Complete")) return "Current";
  return holds("Failed") ? "Failed" : "InProgress";
}
