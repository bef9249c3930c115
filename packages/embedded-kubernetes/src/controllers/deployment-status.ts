import type { ApiObject } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import { metadataOf, nameOf, timestamp } from "./object-facts.ts";
import { replicaFailure } from "./replica-sets.ts";
import { countOf, maxUnavailable, replicasOf } from "./rollout.ts";
import { simulatedFault } from "./simulated-fault.ts";

export interface DeploymentStatus {
  readonly status: JsonObject;
  /** When the rollout will have taken too long; nothing while it is done. */
  readonly deadlineMs: number | undefined;
}

/** Counts of all ReplicaSets and the conditions Available and Progressing, as the Deployment controller writes them. */
export function deploymentStatus(
  deployment: ApiObject,
  current: ApiObject | undefined,
  sets: readonly ApiObject[],
  now: Date,
): DeploymentStatus {
  const before = objectOf(deployment, "status") ?? {};
  const wanted = replicasOf(deployment);
  const replicas = sum(sets, "replicas");
  const updated = current === undefined ? 0 : countOf(current, "replicas");
  const available = sum(sets, "availableReplicas");
  const isDone = updated === wanted && replicas === wanted && available === wanted;
  const progress = progressing(deployment, current, before, isDone, now);
  const status = {
    observedGeneration: metadataOf(deployment)["generation"] ?? 1,
    ...positive("replicas", replicas),
    ...positive("updatedReplicas", updated),
    ...positive("readyReplicas", sum(sets, "readyReplicas")),
    ...positive("availableReplicas", available),
    ...positive("unavailableReplicas", Math.max(0, Math.max(wanted, replicas) - available)),
    terminatingReplicas: 0,
    ...positive("collisionCount", numberOf(before, "collisionCount") ?? 0),
    conditions: [
      ...othersConditions(before),
      availability(deployment, before, available, wanted, now),
      progress.condition,
      ...replicaFailureOf(current, sets, before),
    ],
  };
  return { status, deadlineMs: progress.deadlineMs };
}

/** Conditions that other clients wrote stay. */
function othersConditions(before: JsonObject): readonly JsonObject[] {
  const own = new Set(["Available", "Progressing", "ReplicaFailure"]);
  return objectsOf(before, "conditions").filter((condition) => !own.has(textOf(condition, "type")));
}

/** That a ReplicaSet cannot make its Pods, the new one's words first. The condition stays as it is while its reason does. */
function replicaFailureOf(
  current: ApiObject | undefined,
  sets: readonly ApiObject[],
  before: JsonObject,
): readonly JsonObject[] {
  const failures = [current, ...sets].map((set) => set && replicaFailure(set));
  const failure = failures.find((one) => one !== undefined);
  if (failure === undefined) return [];
  const former = objectsOf(before, "conditions").find((condition) => condition["type"] === "ReplicaFailure");
  const isSame = former?.["reason"] === failure["reason"] && former?.["status"] === failure["status"];
  return [
    former !== undefined && isSame ? former : { ...failure, lastUpdateTime: failure["lastTransitionTime"] ?? "" },
  ];
}

function sum(sets: readonly ApiObject[], field: string): number {
  return sets.reduce((total, set) => total + countOf(set, field), 0);
}

function positive(field: string, value: number): JsonObject {
  return value > 0 ? { [field]: value } : {};
}

function availability(
  deployment: ApiObject,
  before: JsonObject,
  available: number,
  wanted: number,
  now: Date,
): JsonObject {
  const isAvailable = available >= wanted - maxUnavailable(deployment);
  return conditionAt(
    before,
    isAvailable
      ? {
          type: "Available",
          status: "True",
          reason: "MinimumReplicasAvailable",
          message: "Deployment has minimum availability.",
        }
      : {
          type: "Available",
          status: "False",
          reason: "MinimumReplicasUnavailable",
          message: "Deployment does not have minimum availability.",
        },
    now,
  );
}

interface Progress {
  readonly condition: JsonObject;
  readonly deadlineMs: number | undefined;
}

function progressing(
  deployment: ApiObject,
  current: ApiObject | undefined,
  before: JsonObject,
  isDone: boolean,
  now: Date,
): Progress {
  const subject = current === undefined ? `Deployment "${nameOf(deployment)}"` : `ReplicaSet "${nameOf(current)}"`;
  const condition = (isTrue: boolean, reason: string, message: string): JsonObject =>
    conditionAt(before, { type: "Progressing", status: isTrue ? "True" : "False", reason, message }, now);
  if (isDone) {
    return {
      condition: condition(true, "NewReplicaSetAvailable", `${subject} has successfully progressed.`),
      deadlineMs: undefined,
    };
  }
  const leftMs = untilDeadlineMs(deployment, before, now);
  if (leftMs <= 0 || simulatedFault(deployment).kind === "fail") {
    return {
      condition: condition(false, "ProgressDeadlineExceeded", `${subject} has timed out progressing.`),
      deadlineMs: undefined,
    };
  }
  return {
    condition: condition(true, "ReplicaSetUpdated", `${subject} is progressing.`),
    deadlineMs: leftMs,
  };
}

/** A rollout has its time from its last progress on; a new generation begins anew. */
function untilDeadlineMs(deployment: ApiObject, before: JsonObject, now: Date): number {
  const seconds = numberOf(objectOf(deployment, "spec"), "progressDeadlineSeconds") ?? 600;
  const former = objectsOf(before, "conditions").find((condition) => condition["type"] === "Progressing");
  const isNew = before["observedGeneration"] !== metadataOf(deployment)["generation"];
  const isUnderWay = former !== undefined && !isNew && former["reason"] !== "NewReplicaSetAvailable";
  // It stays exceeded: its own condition, which is new, is no progress.
  if (isUnderWay && former["reason"] === "ProgressDeadlineExceeded") return 0;
  const since = isUnderWay ? Date.parse(textOf(former, "lastUpdateTime")) : now.getTime();
  return since + seconds * 1000 - now.getTime();
}

/** A condition that says the same keeps its times. */
function conditionAt(before: JsonObject, condition: JsonObject, now: Date): JsonObject {
  const former = objectsOf(before, "conditions").find((other) => other["type"] === condition["type"]);
  const isSame = ["status", "reason", "message"].every((field) => former?.[field] === condition[field]);
  if (former !== undefined && isSame) return former;
  const isSameStatus = former !== undefined && former["status"] === condition["status"];
  const time = timestamp(now);
  return {
    ...condition,
    lastUpdateTime: time,
    lastTransitionTime: isSameStatus ? (former["lastTransitionTime"] ?? time) : time,
  };
}
