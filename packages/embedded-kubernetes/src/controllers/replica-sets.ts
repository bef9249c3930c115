import { type ApiObject, StatusError } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { numberOf, objectOf, objectsOf } from "../core/json-fields.ts";
import type { Tools } from "./controller.ts";
import { isOfEndingNamespace } from "./event-recorder.ts";
import { metadataOf, sameJson, timestamp } from "./object-facts.ts";
import { createPod, deletePod, handOnFault, isReady, pods, podsOf } from "./owned-pods.ts";
import { ownerController } from "./owner-controller.ts";

export const replicaSets = { group: "apps", resource: "replicasets" };

/** Keeps as many Pods as a ReplicaSet wants and counts them in its status. */
export const replicaSetController = ownerController({
  name: "replica-sets",
  kind: "ReplicaSet",
  resource: replicaSets,
  owned: pods,
  mayOwn: () => true,
  keep: keepPods,
});

function keepPods(set: ApiObject, tools: Tools): void {
  const wanted = numberOf(objectOf(set, "spec"), "replicas") ?? 1;
  const present = podsOf(set, tools);
  const failure = createMissing(set, wanted - present.length, tools);
  // Those that are not ready are missed least.
  const byWorth = present.toSorted((one, other) => Number(isReady(one)) - Number(isReady(other)));
  for (const pod of byWorth.slice(0, Math.max(0, present.length - wanted))) deletePod(set, pod, tools);
  handOnFault(set, tools);
  writeStatus(set, podsOf(set, tools), failure, tools);
  if (failure !== undefined) throw failure;
}

/** The refusal that ended it; the rest would be refused for the same. */
function createMissing(set: ApiObject, missing: number, tools: Tools): StatusError | undefined {
  try {
    for (let count = 0; count < missing; count += 1) createPod(set, {}, tools);
    return undefined;
  } catch (error) {
    if (isOfEndingNamespace(error)) return undefined;
    if (error instanceof StatusError) return error;
    throw error;
  }
}

function writeStatus(
  set: ApiObject,
  owned: readonly ApiObject[],
  failure: StatusError | undefined,
  { client, now }: Tools,
): void {
  const ready = owned.filter(isReady).length;
  const conditions = failure === undefined ? [] : [failureCondition(set, failure, timestamp(now()))];
  const status: JsonObject = {
    replicas: owned.length,
    ...(owned.length > 0 ? { fullyLabeledReplicas: owned.length } : {}),
    ...(ready > 0 ? { readyReplicas: ready, availableReplicas: ready } : {}),
    terminatingReplicas: 0,
    observedGeneration: metadataOf(set)["generation"] ?? 1,
    ...(conditions.length > 0 ? { conditions } : {}),
  };
  if (!sameJson(status, set["status"])) client.update(replicaSets, { ...set, status }, { subresource: "status" });
}

/** As in kube's controller the first refusal's words stay until a Pod is made. */
function failureCondition(set: ApiObject, { message }: StatusError, now: string): JsonObject {
  const former = replicaFailure(set);
  const condition = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message };
  return former ?? { ...condition, lastTransitionTime: now };
}

/** The condition of a ReplicaSet that could not make its Pods. */
export function replicaFailure(set: ApiObject): JsonObject | undefined {
  return objectsOf(objectOf(set, "status"), "conditions").find((condition) => condition["type"] === "ReplicaFailure");
}
