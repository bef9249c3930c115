import type { JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";
import { mapObject, numberOf, objectOf, textOf, without } from "../rules/json-fields.ts";
import { type Tools } from "./controller.ts";
import { deploymentStatus } from "./deployment-status.ts";
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
import { handOnFault, templateHash, templateOf } from "./owned-pods.ts";
import { ownerController } from "./owner-controller.ts";
import { replicaSets } from "./replica-sets.ts";
import { handedOn } from "./simulated-fault.ts";

const deployments = { group: "apps", resource: "deployments" };
const revisionAnnotation = "deployment.kubernetes.io/revision";
const hashLabel = "pod-template-hash";

/** Rolls a Deployment's template out by ReplicaSets and tells in its status how far that is. */
export const deploymentController = ownerController({
  name: "deployments",
  kind: "Deployment",
  resource: deployments,
  owned: replicaSets,
  keep: rollOut,
});

function rollOut(deployment: ApiObject, tools: Tools): void {
  const owned = setsOf(deployment, tools);
  handOnFault(deployment, owned, replicaSets, tools);
  const isPaused = objectOf(deployment, "spec")?.["paused"] === true;
  const current = owned.find((set) => isOfTemplate(set, deployment));
  const old = owned.filter((set) => set !== current);
  const revision = revisionFor(current, old);
  if (!isPaused) {
    if (current === undefined) createSet(deployment, revision, startsAt(deployment, old), tools);
    else moveReplicas(deployment, current, old, tools);
  }
  const after = setsOf(deployment, tools);
  const newest = after.find((set) => isOfTemplate(set, deployment));
  if (newest !== undefined && revisionOf(newest) !== revision) {
    tools.client.update(replicaSets, withRevision(newest, revision));
  }
  writeStatus(deployment, newest, after, revision, tools);
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

function replicasOf(object: ApiObject): number {
  return numberOf(objectOf(object, "spec"), "replicas") ?? 1;
}

function availableOf(set: ApiObject): number {
  return numberOf(objectOf(set, "status"), "availableReplicas") ?? 0;
}

function isRecreating(deployment: ApiObject): boolean {
  return textOf(objectOf(objectOf(deployment, "spec"), "strategy"), "type") === "Recreate";
}

/** Recreate waits until the old Pods are gone. */
function startsAt(deployment: ApiObject, old: readonly ApiObject[]): number {
  return isRecreating(deployment) && old.some((set) => replicasOf(set) > 0 || countOf(set) > 0)
    ? 0
    : replicasOf(deployment);
}

function countOf(set: ApiObject): number {
  return numberOf(objectOf(set, "status"), "replicas") ?? 0;
}

/** New Pods first, the old ones go when those are available; of Recreate the other way round. */
function moveReplicas(deployment: ApiObject, current: ApiObject, old: readonly ApiObject[], { client }: Tools): void {
  const wanted = startsAt(deployment, old);
  const isAvailable = availableOf(current) >= replicasOf(deployment);
  if (replicasOf(current) !== wanted) client.update(replicaSets, withReplicas(current, wanted));
  if (!isRecreating(deployment) && !isAvailable) return;
  for (const set of old) if (replicasOf(set) > 0) client.update(replicaSets, withReplicas(set, 0));
}

function withReplicas(set: ApiObject, replicas: number): ApiObject {
  return { ...set, spec: { ...objectOf(set, "spec"), replicas } };
}

function revisionOf(set: ApiObject): number {
  const text = textOf(objectOf(metadataOf(set), "annotations"), revisionAnnotation);
  return text === "" ? 0 : Number(text);
}

/** A template that comes back gets a new revision, as any other. */
function revisionFor(current: ApiObject | undefined, old: readonly ApiObject[]): number {
  const newestOld = Math.max(0, ...old.map(revisionOf));
  const own = current === undefined ? 0 : revisionOf(current);
  return own > newestOld ? own : newestOld + 1;
}

function withRevision(object: ApiObject, revision: number): ApiObject {
  const annotations = { ...objectOf(metadataOf(object), "annotations"), [revisionAnnotation]: String(revision) };
  return withMetadata(object, { annotations });
}

function createSet(deployment: ApiObject, revision: number, replicas: number, tools: Tools): void {
  const template = templateOf(deployment);
  const hash = templateHash(template);
  const withHash = (labels: JsonObject | undefined): JsonObject => ({ ...labels, [hashLabel]: hash });
  const templateMetadata = objectOf(template, "metadata") ?? {};
  const selector = objectOf(objectOf(deployment, "spec"), "selector") ?? {};
  const minReadySeconds = numberOf(objectOf(deployment, "spec"), "minReadySeconds");
  const labels = withHash(objectOf(templateMetadata, "labels"));
  tools.client.create(replicaSets, namespaceOf(deployment), {
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
  });
}

function writeStatus(
  deployment: ApiObject,
  current: ApiObject | undefined,
  sets: readonly ApiObject[],
  revision: number,
  tools: Tools,
): void {
  const { status, deadlineMs } = deploymentStatus(deployment, current, sets, tools.now());
  if (deadlineMs !== undefined) tools.again(deadlineMs);
  const wanted = withRevision(deployment, revision);
  if (sameJson(status, deployment["status"]) && sameJson(wanted["metadata"], deployment["metadata"])) return;
  tools.client.update(deployments, { ...wanted, status }, { subresource: "status" });
}
