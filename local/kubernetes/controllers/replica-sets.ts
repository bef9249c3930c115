import type { JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";
import { numberOf, objectOf, textOf } from "../rules/json-fields.ts";
import { type Controller, keyOf, parseKey, type Tools } from "./controller.ts";
import { isDeleting, isSameResource, metadataOf, nameOf, namespaceOf, ownersOf, sameJson } from "./object-facts.ts";
import { createPod, deletePod, handOnFault, isReady, pods, podsOf, randomSuffix } from "./owned-pods.ts";

export const replicaSets = { group: "apps", resource: "replicasets" };

/** Keeps as many Pods as a ReplicaSet wants and counts them in its status. */
export const replicaSetController: Controller = {
  name: "replica-sets",
  keysOf: (event) => {
    const namespace = namespaceOf(event.object);
    if (isSameResource(event, replicaSets)) return [keyOf(namespace, nameOf(event.object))];
    return isSameResource(event, pods) ? ownersOfKind(event.object, "ReplicaSet") : [];
  },
  reconcile(key, tools) {
    const { namespace, name } = parseKey(key);
    const set = tools.client.get(replicaSets, namespace, name);
    if (set !== undefined && !isDeleting(set)) keepPods(set, tools);
  },
};

/** Keys of the owners of that kind. */
export function ownersOfKind(object: ApiObject, kind: string): readonly string[] {
  return ownersOf(object)
    .filter((owner) => owner["kind"] === kind && owner["controller"] === true)
    .map((owner) => keyOf(namespaceOf(object), textOf(owner, "name")));
}

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
