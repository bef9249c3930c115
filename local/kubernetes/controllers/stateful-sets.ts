import type { JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../rules/json-fields.ts";
import { type Tools } from "./controller.ts";
import { metadataOf, nameOf, namespaceOf, sameJson } from "./object-facts.ts";
import { createPod, deletePod, handOnFault, isReady, pods, podsOf, templateHash, templateOf } from "./owned-pods.ts";
import { ownerController } from "./owner-controller.ts";
import { claims } from "./small-kinds.ts";

const statefulSets = { group: "apps", resource: "statefulsets" };
const revisionLabel = "controller-revision-hash";

/** Keeps a StatefulSet's Pods by number: in order, each after its predecessor is ready, replaced from the last on. */
export const statefulSetController = ownerController({
  name: "stateful-sets",
  kind: "StatefulSet",
  resource: statefulSets,
  owned: pods,
  keep: keepPods,
});

function keepPods(set: ApiObject, tools: Tools): void {
  const revision = `${nameOf(set)}-${templateHash(templateOf(set))}`;
  const wanted = numbersOf(set).map((number) => `${nameOf(set)}-${number}`);
  const present = podsOf(set, tools);
  for (const pod of present) if (!wanted.includes(nameOf(pod))) deletePod(pod, tools);
  createMissing(set, wanted, present, revision, tools);
  replaceOutdated(set, podsOf(set, tools), revision, tools);
  handOnFault(set, podsOf(set, tools), pods, tools);
  writeStatus(set, podsOf(set, tools), revision, tools);
}

function numbersOf(set: ApiObject): readonly number[] {
  const spec = objectOf(set, "spec");
  const start = numberOf(objectOf(spec, "ordinals"), "start") ?? 0;
  return Array.from({ length: numberOf(spec, "replicas") ?? 1 }, (_, index) => start + index);
}

function createMissing(
  set: ApiObject,
  wanted: readonly string[],
  present: readonly ApiObject[],
  revision: string,
  tools: Tools,
): void {
  const isParallel = textOf(objectOf(set, "spec"), "podManagementPolicy") === "Parallel";
  for (const name of wanted) {
    const pod = present.find((other) => nameOf(other) === name);
    if (pod === undefined) {
      createClaims(set, name, tools);
      createPod(set, name, podLabels(name, revision), tools);
    }
    if (!isParallel && (pod === undefined || !isReady(pod))) return;
  }
}

function podLabels(name: string, revision: string): JsonObject {
  return {
    "apps.kubernetes.io/pod-index": name.slice(name.lastIndexOf("-") + 1),
    [revisionLabel]: revision,
    "statefulset.kubernetes.io/pod-name": name,
  };
}

function createClaims(set: ApiObject, podName: string, { client }: Tools): void {
  const namespace = namespaceOf(set);
  for (const template of objectsOf(objectOf(set, "spec"), "volumeClaimTemplates")) {
    const metadata = objectOf(template, "metadata") ?? {};
    const name = `${textOf(metadata, "name")}-${podName}`;
    if (client.get(claims, namespace, name) !== undefined) continue;
    const labels = {
      ...objectOf(metadata, "labels"),
      ...objectOf(objectOf(objectOf(set, "spec"), "selector"), "matchLabels"),
    };
    client.create(claims, namespace, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { ...metadata, name, namespace, labels },
      spec: objectOf(template, "spec") ?? {},
    });
  }
}

/** One at a time, the highest number first, and never below the partition. */
function replaceOutdated(set: ApiObject, present: readonly ApiObject[], revision: string, tools: Tools): void {
  const strategy = objectOf(objectOf(set, "spec"), "updateStrategy");
  if (textOf(strategy, "type") === "OnDelete" || !present.every(isReady)) return;
  const partition = numberOf(objectOf(strategy, "rollingUpdate"), "partition") ?? 0;
  const outdated = present
    .filter((pod) => revisionOf(pod) !== revision && numberIn(nameOf(pod)) >= partition)
    .toSorted((one, other) => numberIn(nameOf(other)) - numberIn(nameOf(one)));
  const [last] = outdated;
  if (last !== undefined) deletePod(last, tools);
}

function numberIn(name: string): number {
  return Number(name.slice(name.lastIndexOf("-") + 1));
}

function revisionOf(pod: ApiObject): string {
  return textOf(objectOf(metadataOf(pod), "labels"), revisionLabel);
}

function writeStatus(set: ApiObject, owned: readonly ApiObject[], revision: string, { client }: Tools): void {
  const updated = owned.filter((pod) => revisionOf(pod) === revision).length;
  const ready = owned.filter(isReady).length;
  const wanted = numberOf(objectOf(set, "spec"), "replicas") ?? 1;
  const isDone = updated === wanted && ready === wanted;
  const former = textOf(objectOf(set, "status"), "currentRevision");
  const currentRevision = isDone || former === "" ? revision : former;
  const current = owned.filter((pod) => revisionOf(pod) === currentRevision).length;
  const status: JsonObject = {
    observedGeneration: metadataOf(set)["generation"] ?? 1,
    replicas: owned.length,
    ...(ready > 0 ? { readyReplicas: ready } : {}),
    ...(current > 0 ? { currentReplicas: current } : {}),
    ...(updated > 0 ? { updatedReplicas: updated } : {}),
    currentRevision,
    updateRevision: revision,
    collisionCount: 0,
    availableReplicas: ready,
  };
  if (!sameJson(status, set["status"])) client.update(statefulSets, { ...set, status }, { subresource: "status" });
}
