import { createHash } from "node:crypto";
import { type ApiObject, messageOf } from "../core/api-object.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import type { Tools } from "./controller.ts";
import { isOfEndingNamespace } from "./event-recorder.ts";
import { controllerReference, isDeleting, nameOf, namespaceOf, uidOf, withMetadata } from "./object-facts.ts";
import { faultAnnotation, faultText, handedOn, templateFaultText } from "./simulated-fault.ts";

export const pods = { group: "", resource: "pods" };

/** Letters of hashes: no vowels, so no words. */
const letters = "bcdfghjklmnpqrstvwxz2456789";

/** The Pods that this workload made and that are not on their way out, by name. */
export function podsOf(workload: ApiObject, { owned }: Tools): readonly ApiObject[] {
  return owned.of(uidOf(workload), pods).filter((pod) => !isDeleting(pod));
}

export function isReady(pod: ApiObject): boolean {
  return objectsOf(objectOf(pod, "status"), "conditions").some(
    (condition) => condition["type"] === "Ready" && condition["status"] === "True",
  );
}

export function phaseOf(pod: ApiObject): string {
  return textOf(objectOf(pod, "status"), "phase");
}

/** What distinguishes a Pod from its siblings: the metadata and the spec that it has beside those of the template. */
interface Identity {
  readonly metadata: { readonly name?: string; readonly labels?: JsonObject };
  readonly spec?: JsonObject;
}

/** A Pod of a workload's template. Without a name of its own it gets one that begins with the workload's. */
export function podOf(workload: ApiObject, identity: Identity): ApiObject {
  const template = templateOf(workload);
  const metadata = objectOf(template, "metadata") ?? {};
  const annotations = { ...objectOf(metadata, "annotations"), ...handedOn(workload) };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: `${nameOf(workload)}-`,
      ...identity.metadata,
      namespace: namespaceOf(workload),
      labels: { ...objectOf(metadata, "labels"), ...identity.metadata.labels },
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ownerReferences: [controllerReference(workload)],
    },
    spec: { ...objectOf(template, "spec"), ...identity.spec },
  };
}

/** Makes a Pod and records it in an Event of its workload. A refusal is recorded too, and thrown. */
export function createPod(workload: ApiObject, labels: JsonObject, { client, record }: Tools): void {
  try {
    const pod = client.create(pods, namespaceOf(workload), podOf(workload, { metadata: { labels } }));
    record(workload, "Normal", "SuccessfulCreate", `Created pod: ${nameOf(pod)}`);
  } catch (error) {
    if (!isOfEndingNamespace(error)) {
      record(workload, "Warning", "FailedCreate", `Error creating: ${messageOf(error)}`);
    }
    throw error;
  }
}

/** Removes a Pod of this workload and records it in an Event of the workload. */
export function deletePod(workload: ApiObject, pod: ApiObject, tools: Tools): void {
  removePod(pod, tools);
  tools.record(workload, "Normal", "SuccessfulDelete", `Deleted pod: ${nameOf(pod)}`);
}

/** Removes a Pod at once: nothing runs that would need its grace period. */
export function removePod(pod: ApiObject, { client }: Pick<Tools, "client">): void {
  client.delete(pods, namespaceOf(pod), nameOf(pod), { uid: uidOf(pod), gracePeriodSeconds: 0 });
}

/**
 * A fault that was put on or taken off a running workload reaches the Pods that it has. Without one, Pods have that of the template that they
 * are made of.
 *
 * @param isCurrent whether a Pod is of the present template
 */
export function handOnFault(
  workload: ApiObject,
  tools: Tools,
  isCurrent: (pod: ApiObject) => boolean = () => true,
): void {
  const own = faultText(workload);
  for (const pod of podsOf(workload, tools)) {
    setFault(pod, own === "" && isCurrent(pod) ? templateFaultText(workload) : own, pods, tools);
  }
}

/** Gives an object this fault, or none for an empty text, and writes it only if it has another one. */
export function setFault(
  object: ApiObject,
  text: string,
  resource: typeof pods,
  { client }: Pick<Tools, "client">,
): void {
  if (faultText(object) === text) return;
  const { [faultAnnotation]: _former, ...annotations } = objectOf(objectOf(object, "metadata"), "annotations") ?? {};
  const wanted = text === "" ? annotations : { ...annotations, [faultAnnotation]: text };
  client.update(resource, withMetadata(object, { annotations: wanted }));
}

export function templateOf(workload: ApiObject): JsonObject {
  return objectOf(objectOf(workload, "spec"), "template") ?? {};
}

/** Ten letters that stand for a Pod template; another server's would differ, as its hash is of Go's own printing. */
export function templateHash(template: JsonObject, collisions = 0): string {
  const salt = collisions === 0 ? "" : String(collisions);
  const digest = createHash("sha256")
    .update(`${canonicalJson(template)}${salt}`)
    .digest();
  return Array.from(digest.subarray(0, 10), (byte) => letters[byte % letters.length]).join("");
}
