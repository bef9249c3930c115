import { type ApiObject, messageOf } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import type { Tools } from "./controller.ts";
import { isOfEndingNamespace } from "./event-recorder.ts";
import { isDeleting, metadataOf, nameOf, namespaceOf, sameJson } from "./object-facts.ts";
import { handOnFault, isReady, podOf, pods, podsOf, removePod, templateHash, templateOf } from "./owned-pods.ts";
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
  mayOwn: (set, pod) => /^(.*)-\d+$/.exec(nameOf(pod))?.[1] === nameOf(set),
  keep: keepPods,
});

function keepPods(set: ApiObject, tools: Tools): void {
  const revision = `${nameOf(set)}-${templateHash(templateOf(set))}`;
  const wanted = numbersOf(set).map((number) => `${nameOf(set)}-${number}`);
  const present = podsOf(set, tools);
  for (const pod of present) if (!wanted.includes(nameOf(pod))) deleteMember(set, pod, tools);
  try {
    createMissing(set, wanted, present, revision, tools);
    replaceOutdated(set, podsOf(set, tools), revision, tools);
  } finally {
    handOnFault(set, tools, (pod) => revisionOf(pod) === revision);
    writeStatus(set, podsOf(set, tools), revision, tools);
  }
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
    if (pod === undefined) createMember(set, name, revision, tools);
    if (!isParallel && (pod === undefined || !isReady(pod))) return;
  }
}

/** Makes the claims that the Pod mounts and then the Pod; Events of the set say how that went, in kube's words. */
function createMember(set: ApiObject, name: string, revision: string, tools: Tools): void {
  const labels = {
    "apps.kubernetes.io/pod-index": name.slice(name.lastIndexOf("-") + 1),
    [revisionLabel]: revision,
    "statefulset.kubernetes.io/pod-name": name,
  };
  const claimed = objectsOf(objectOf(set, "spec"), "volumeClaimTemplates").map((template) =>
    claimOf(set, template, name),
  );
  const spec = {
    hostname: name,
    subdomain: textOf(objectOf(set, "spec"), "serviceName"),
    volumes: volumesOf(set, claimed),
  };
  try {
    for (const { claim } of claimed) createClaim(set, name, claim, tools);
    tools.client.create(pods, namespaceOf(set), podOf(set, { metadata: { name, labels }, spec }));
    tools.record(set, "Normal", "SuccessfulCreate", `Create Pod ${name} in StatefulSet ${nameOf(set)} successful`);
  } catch (error) {
    if (!isOfEndingNamespace(error)) {
      const failed = `Create Pod ${name} in StatefulSet ${nameOf(set)} failed error: ${messageOf(error)}`;
      tools.record(set, "Warning", "FailedCreate", failed);
    }
    throw error;
  }
}

function deleteMember(set: ApiObject, pod: ApiObject, tools: Tools): void {
  removePod(pod, tools);
  const deleted = `Delete Pod ${nameOf(pod)} in StatefulSet ${nameOf(set)} successful`;
  tools.record(set, "Normal", "SuccessfulDelete", deleted);
}

interface Claimed {
  /** Of the volume that mounts it. */
  readonly volume: string;
  readonly claim: ApiObject;
}

function claimOf(set: ApiObject, template: JsonObject, podName: string): Claimed {
  const metadata = objectOf(template, "metadata") ?? {};
  const volume = textOf(metadata, "name");
  const labels = {
    ...objectOf(metadata, "labels"),
    ...objectOf(objectOf(objectOf(set, "spec"), "selector"), "matchLabels"),
  };
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { ...metadata, name: `${volume}-${podName}`, namespace: namespaceOf(set), labels },
    spec: objectOf(template, "spec") ?? {},
  };
  return { volume, claim };
}

/** The claims first; they take the place of volumes of the template that have their names. */
function volumesOf(set: ApiObject, claimed: readonly Claimed[]): readonly JsonObject[] {
  const mounted = claimed.map(({ volume, claim }) => ({
    name: volume,
    persistentVolumeClaim: { claimName: nameOf(claim) },
  }));
  const names = new Set(claimed.map(({ volume }) => volume));
  const others = objectsOf(objectOf(templateOf(set), "spec"), "volumes").filter(
    (one) => !names.has(textOf(one, "name")),
  );
  return [...mounted, ...others];
}

/** A claim outlives its Pod and its set, so it may be there. */
function createClaim(set: ApiObject, podName: string, claim: ApiObject, { client, record }: Tools): void {
  const name = nameOf(claim);
  const present = client.get(claims, namespaceOf(set), name);
  if (present !== undefined && isDeleting(present)) throw new Error(`pvc ${name} is being deleted`);
  if (present !== undefined) return;
  try {
    client.create(claims, namespaceOf(set), claim);
    const made = `Create Claim ${name} Pod ${podName} in StatefulSet ${nameOf(set)} success`;
    record(set, "Normal", "SuccessfulCreate", made);
  } catch (error) {
    if (isOfEndingNamespace(error)) throw error;
    const failed = `Create Claim ${name} for Pod ${podName} in StatefulSet ${nameOf(set)} failed error: ${messageOf(error)}`;
    record(set, "Warning", "FailedCreate", failed);
    throw new Error(`failed to create PVC ${name}: ${messageOf(error)}`, { cause: error });
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
  if (last !== undefined) deleteMember(set, last, tools);
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
