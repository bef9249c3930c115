import { createHash, randomInt } from "node:crypto";
import { canonicalJson } from "../../../lib/core/canonical-json.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";
import { objectOf, objectsOf, textOf } from "../rules/json-fields.ts";
import type { Tools } from "./controller.ts";
import { controllerReference, isDeleting, nameOf, namespaceOf, uidOf, withMetadata } from "./object-facts.ts";
import { faultAnnotation, faultText, handedOn } from "./simulated-fault.ts";

export const pods = { group: "", resource: "pods" };

/** Letters of generated names and hashes: no vowels, so no words. */
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

/** Makes a Pod of a workload's template. */
export function createPod(workload: ApiObject, name: string, labels: JsonObject, { client }: Tools): void {
  const template = templateOf(workload);
  const metadata = objectOf(template, "metadata") ?? {};
  const annotations = { ...objectOf(metadata, "annotations"), ...handedOn(workload) };
  client.create(pods, namespaceOf(workload), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: namespaceOf(workload),
      labels: { ...objectOf(metadata, "labels"), ...labels },
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ownerReferences: [controllerReference(workload)],
    },
    spec: objectOf(template, "spec") ?? {},
  });
}

export function deletePod(pod: ApiObject, { client }: Tools): void {
  client.delete(pods, namespaceOf(pod), nameOf(pod), { uid: uidOf(pod), gracePeriodSeconds: 0 });
}

/** A fault that was put on or taken off a running workload reaches the Pods that it has. */
export function handOnFault(
  workload: ApiObject,
  owned: readonly ApiObject[],
  resource: typeof pods,
  { client }: Tools,
): void {
  const text = faultText(workload);
  for (const object of owned) {
    if (faultText(object) === text) continue;
    const { [faultAnnotation]: _former, ...annotations } = objectOf(objectOf(object, "metadata"), "annotations") ?? {};
    client.update(resource, withMetadata(object, { annotations: { ...annotations, ...handedOn(workload) } }));
  }
}

export function templateOf(workload: ApiObject): JsonObject {
  return objectOf(objectOf(workload, "spec"), "template") ?? {};
}

/** Ten letters that stand for a Pod template; another server's would differ, as its hash is of Go's own printing. */
export function templateHash(template: JsonObject): string {
  const digest = createHash("sha256").update(canonicalJson(template)).digest();
  return Array.from(digest.subarray(0, 10), (byte) => letters[byte % letters.length]).join("");
}

export function randomSuffix(): string {
  return Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join("");
}
