import { type ApiObject, messageOf, StatusError } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { mapObject, numberOf, objectOf, textOf, without } from "../core/json-fields.ts";
import type { Tools } from "./controller.ts";
import { deploymentStatus } from "./deployment-status.ts";
import { isOfEndingNamespace } from "./event-recorder.ts";
import {
  controllerReference,
  isDeleting,
  metadataOf,
  nameOf,
  namespaceOf,
  sameJson,
  uidOf,
  withMetadata,
} from "./object-facts.ts";
import { setFault, templateHash, templateOf } from "./owned-pods.ts";
import { ownerController } from "./owner-controller.ts";
import { replicaSets } from "./replica-sets.ts";
import { byCreation, firstReplicas, nextScales, replicasOf, type Sets } from "./rollout.ts";
import { faultText, handedOn } from "./simulated-fault.ts";

const deployments = { group: "apps", resource: "deployments" };
const revisionAnnotation = "deployment.kubernetes.io/revision";
const hashLabel = "pod-template-hash";

/** Rolls a Deployment's template out by ReplicaSets and reports the progress in its status. */
export const deploymentController = ownerController({
  name: "deployments",
  kind: "Deployment",
  resource: deployments,
  owned: replicaSets,
  mayOwn: () => true,
  keep: rollOut,
});

function rollOut(deployment: ApiObject, tools: Tools): void {
  // Not that of the template: each ReplicaSet has its own one in its own template.
  for (const set of setsOf(deployment, tools)) setFault(set, faultText(deployment), replicaSets, tools);
  const isPaused = objectOf(deployment, "spec")?.["paused"] === true;
  const sets = splitSets(deployment, tools);
  const revision = revisionFor(sets);
  if (!isPaused) takeStep(deployment, sets, revision, tools);
  const after = splitSets(deployment, tools);
  if (after.current !== undefined && revisionOf(after.current) !== revision) {
    tools.client.update(replicaSets, withRevision(after.current, revision));
  }
  if (isComplete(deployment)) forgetHistory(deployment, after.old, tools);
  writeStatus(deployment, splitSets(deployment, tools), tools);
}

function takeStep(deployment: ApiObject, sets: Sets, revision: number, tools: Tools): void {
  const first = sets.current === undefined ? firstReplicas(deployment, sets) : undefined;
  if (first !== undefined) {
    createSet(deployment, revision, first, tools);
    return;
  }
  for (const { set, replicas } of nextScales(deployment, sets)) {
    const former = replicasOf(set);
    tools.client.update(replicaSets, { ...set, spec: { ...objectOf(set, "spec"), replicas } });
    tellScaled(deployment, nameOf(set), former, replicas, tools);
  }
}

function tellScaled(deployment: ApiObject, set: string, from: number, to: number, { record }: Tools): void {
  const way = from < to ? "up" : "down";
  record(deployment, "Normal", "ScalingReplicaSet", `Scaled ${way} replica set ${set} from ${from} to ${to}`);
}

/** The oldest of the sets with the Deployment's template is its own. */
function splitSets(deployment: ApiObject, tools: Tools): Sets {
  const owned = setsOf(deployment, tools).toSorted(byCreation);
  const current = owned.find((set) => isOfTemplate(set, deployment));
  return { current, old: owned.filter((set) => set !== current) };
}

/** By its status, so that what a rollout may still come back to is kept until it has ended. */
function isComplete(deployment: ApiObject): boolean {
  const status = objectOf(deployment, "status");
  const counts = ["replicas", "updatedReplicas", "availableReplicas"];
  return (
    status?.["observedGeneration"] === metadataOf(deployment)["generation"] &&
    counts.every((field) => (numberOf(status, field) ?? 0) === replicasOf(deployment))
  );
}

/** Removes the oldest sets without Pods beyond `revisionHistoryLimit`. */
function forgetHistory(deployment: ApiObject, old: readonly ApiObject[], { client }: Tools): void {
  const limit = numberOf(objectOf(deployment, "spec"), "revisionHistoryLimit") ?? Number.POSITIVE_INFINITY;
  const byRevision = old.toSorted((one, other) => revisionOf(one) - revisionOf(other));
  for (const set of byRevision.slice(0, Math.max(0, old.length - limit))) {
    const isObserved = objectOf(set, "status")?.["observedGeneration"] === metadataOf(set)["generation"];
    const isEmpty = replicasOf(set) === 0 && (numberOf(objectOf(set, "status"), "replicas") ?? 0) === 0;
    if (isObserved && isEmpty) client.delete(replicaSets, namespaceOf(set), nameOf(set), { uid: uidOf(set) });
  }
}

function setsOf(deployment: ApiObject, { owned }: Tools): readonly ApiObject[] {
  return owned.of(uidOf(deployment), replicaSets).filter((set) => !isDeleting(set));
}

/** The set's template is the Deployment's with the label that tells the sets apart. */
function isOfTemplate(set: ApiObject, deployment: ApiObject): boolean {
  const template = mapObject(templateOf(set), "metadata", (metadata) =>
    mapObject(metadata, "labels", (labels) => without(labels, hashLabel)),
  );
  return sameJson(template, templateOf(deployment));
}

function revisionOf(set: ApiObject): number {
  const text = textOf(objectOf(metadataOf(set), "annotations"), revisionAnnotation);
  return text === "" ? 0 : Number(text);
}

/** A template that comes back gets a new revision, as any other. */
function revisionFor({ current, old }: Sets): number {
  const newestOld = Math.max(0, ...old.map(revisionOf));
  const own = current === undefined ? 0 : revisionOf(current);
  return own > newestOld ? own : newestOld + 1;
}

function withRevision(object: ApiObject, revision: number): ApiObject {
  const annotations = { ...objectOf(metadataOf(object), "annotations"), [revisionAnnotation]: String(revision) };
  return withMetadata(object, { annotations });
}

function createSet(deployment: ApiObject, revision: number, replicas: number, tools: Tools): void {
  const set = newSet(deployment, revision, replicas);
  try {
    tools.client.create(replicaSets, namespaceOf(deployment), set);
    if (replicas > 0) tellScaled(deployment, nameOf(set), 0, replicas, tools);
  } catch (error) {
    if (error instanceof StatusError && error.reason === "AlreadyExists") return countCollision(deployment, tools);
    if (!isOfEndingNamespace(error)) {
      const failed = `Failed to create new replica set "${nameOf(set)}": ${messageOf(error)}`;
      tools.record(deployment, "Warning", "ReplicaSetCreateError", failed);
    }
    throw error;
  }
}

/** A set of another owner has the name: this write causes the next look, which makes another name. */
function countCollision(deployment: ApiObject, { client }: Tools): void {
  const before = objectOf(deployment, "status") ?? {};
  const status = { ...before, collisionCount: (numberOf(before, "collisionCount") ?? 0) + 1 };
  client.update(deployments, { ...deployment, status }, { subresource: "status" });
}

function newSet(deployment: ApiObject, revision: number, replicas: number): ApiObject {
  const template = templateOf(deployment);
  const collisions = numberOf(objectOf(deployment, "status"), "collisionCount") ?? 0;
  const hash = templateHash(template, collisions);
  const withHash = (labels: JsonObject | undefined): JsonObject => ({ ...labels, [hashLabel]: hash });
  const templateMetadata = objectOf(template, "metadata") ?? {};
  const selector = objectOf(objectOf(deployment, "spec"), "selector") ?? {};
  const minReadySeconds = numberOf(objectOf(deployment, "spec"), "minReadySeconds");
  const labels = withHash(objectOf(templateMetadata, "labels"));
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${nameOf(deployment)}-${hash}`,
      namespace: namespaceOf(deployment),
      labels,
      annotations: { ...handedOn(deployment), [revisionAnnotation]: String(revision) },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: withHash(objectOf(selector, "matchLabels")) },
      template: { ...template, metadata: { ...templateMetadata, labels } },
    },
  };
}

function writeStatus(deployment: ApiObject, { current, old }: Sets, tools: Tools): void {
  const sets = current === undefined ? old : [current, ...old];
  const { status, deadlineMs } = deploymentStatus(deployment, current, sets, tools.now());
  if (deadlineMs !== undefined) tools.again(deadlineMs);
  const wanted = current === undefined ? deployment : withRevision(deployment, revisionOf(current));
  if (sameJson(status, deployment["status"]) && sameJson(wanted["metadata"], deployment["metadata"])) return;
  tools.client.update(deployments, { ...wanted, status }, { subresource: "status" });
}
