import type { ApiObject } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { objectOf, textOf } from "../core/json-fields.ts";
import type { Tools } from "./controller.ts";
import { metadataOf, sameJson } from "./object-facts.ts";
import { createPod, deletePod, handOnFault, isReady, pods, podsOf, templateHash, templateOf } from "./owned-pods.ts";
import { ownerController } from "./owner-controller.ts";

const daemonSets = { group: "apps", resource: "daemonsets" };
const revisionLabel = "controller-revision-hash";

/** Runs a DaemonSet as on a cluster of one node. */
export const daemonSetController = ownerController({
  name: "daemon-sets",
  kind: "DaemonSet",
  resource: daemonSets,
  owned: pods,
  mayOwn: () => true,
  keep: keepPod,
});

function keepPod(set: ApiObject, tools: Tools): void {
  const revision = templateHash(templateOf(set));
  const isRolling = textOf(objectOf(objectOf(set, "spec"), "updateStrategy"), "type") !== "OnDelete";
  for (const pod of podsOf(set, tools)) if (isRolling && revisionOf(pod) !== revision) deletePod(set, pod, tools);
  try {
    if (podsOf(set, tools).length === 0) createPod(set, { [revisionLabel]: revision }, tools);
  } finally {
    handOnFault(set, tools, (pod) => revisionOf(pod) === revision);
    writeStatus(set, podsOf(set, tools), revision, tools);
  }
}

function revisionOf(pod: ApiObject): string {
  return textOf(objectOf(metadataOf(pod), "labels"), revisionLabel);
}

function writeStatus(set: ApiObject, owned: readonly ApiObject[], revision: string, { client }: Tools): void {
  const ready = owned.filter(isReady).length;
  const updated = owned.filter((pod) => revisionOf(pod) === revision).length;
  const status: JsonObject = {
    currentNumberScheduled: owned.length,
    numberMisscheduled: 0,
    desiredNumberScheduled: 1,
    numberReady: ready,
    observedGeneration: metadataOf(set)["generation"] ?? 1,
    ...(updated > 0 ? { updatedNumberScheduled: updated } : {}),
    ...(ready > 0 ? { numberAvailable: ready } : { numberUnavailable: 1 }),
  };
  if (!sameJson(status, set["status"])) client.update(daemonSets, { ...set, status }, { subresource: "status" });
}
