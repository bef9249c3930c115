import { isJsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import { conditionsOf, objectAt } from "./fields.ts";
import type { Status } from "./status.ts";

/** How long a Pod may be without a node before that counts as a failure: kstatus' own window. */
const unschedulableGraceMs = 15_000;

/** A Pod in phase Failed is Current, as in kstatus: it has ended and nothing more will come of it. */
export function podStatus(pod: LiveObject, now: number): Status {
  const status = objectAt(pod, "status");
  switch (status["phase"]) {
    case "Succeeded":
    case "Failed":
      return "Current";
    case "Running":
      if (conditionsOf(pod).some(({ type, status: value }) => type === "Ready" && value === "True")) return "Current";
      return isCrashLooping(status["containerStatuses"]) ? "Failed" : "InProgress";
    case "Pending": {
      const age = now - Date.parse(pod.metadata.creationTimestamp ?? "");
      return isUnschedulable(pod) && age > unschedulableGraceMs ? "Failed" : "InProgress";
    }
    case undefined:
    case "":
      return "InProgress";
    default:
      return "Unknown";
  }
}

/** Whether this Pod makes the set that owns it Failed: ended in failure, and not because it is going or has no node. */
export function isFailedPod(pod: LiveObject): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || isUnschedulable(pod)) return false;
  return podStatus(pod, 0) === "Failed" || objectAt(pod, "status")["phase"] === "Failed";
}

function isUnschedulable(pod: LiveObject): boolean {
  return conditionsOf(pod).some(
    ({ type, status, reason }) => type === "PodScheduled" && status === "False" && reason === "Unschedulable",
  );
}

function isCrashLooping(containerStatuses: unknown): boolean {
  if (!Array.isArray(containerStatuses)) return false;
  return containerStatuses
    .filter(isJsonObject)
    .some((container) => objectAt(container, "state", "waiting")["reason"] === "CrashLoopBackOff");
}
