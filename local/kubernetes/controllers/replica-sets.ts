import type { JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";
import { numberOf, objectOf } from "../rules/json-fields.ts";
import { type Tools } from "./controller.ts";
import { metadataOf, nameOf, sameJson } from "./object-facts.ts";
import { createPod, deletePod, handOnFault, isReady, pods, podsOf, randomSuffix } from "./owned-pods.ts";
import { ownerController } from "./owner-controller.ts";

export const replicaSets = { group: "apps", resource: "replicasets" };

/** Keeps as many Pods as a ReplicaSet wants and counts them in its status. */
export const replicaSetController = ownerController({
  name: "replica-sets",
  kind: "ReplicaSet",
  resource: replicaSets,
  owned: pods,
  keep: keepPods,
});

function keepPods(set: ApiObject, tools: Tools): void {
  const wanted = numberOf(objectOf(set, "spec"), "replicas") ?? 1;
  const present = podsOf(set, tools);
  for (let count = present.length; count < wanted; count += 1) {
    createPod(set, `${nameOf(set).slice(0, 57)}-${randomSuffix()}`, {}, tools);
  }
  // Those that are not ready are missed least.
  const byWorth = present.toSorted((one, other) => Number(isReady(one)) - Number(isReady(other)));
  for (const pod of byWorth.slice(0, Math.max(0, present.length - wanted))) deletePod(pod, tools);
  const kept = podsOf(set, tools);
  handOnFault(set, kept, pods, tools);
  writeStatus(set, podsOf(set, tools), tools);
}

function writeStatus(set: ApiObject, owned: readonly ApiObject[], { client }: Tools): void {
  const ready = owned.filter(isReady).length;
  const status: JsonObject = {
    replicas: owned.length,
    ...(owned.length > 0 ? { fullyLabeledReplicas: owned.length } : {}),
    ...(ready > 0 ? { readyReplicas: ready, availableReplicas: ready } : {}),
    terminatingReplicas: 0,
    observedGeneration: metadataOf(set)["generation"] ?? 1,
  };
  if (!sameJson(status, set["status"])) client.update(replicaSets, { ...set, status }, { subresource: "status" });
}
