import type { ApiObject } from "../core/api-object.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { objectOf, objectsOf, textOf, textsOf, without } from "../core/json-fields.ts";
import type { ResourceName } from "./controller-client.ts";

export function metadataOf(object: ApiObject): JsonObject {
  return objectOf(object, "metadata") ?? {};
}

export function nameOf(object: ApiObject): string {
  return textOf(metadataOf(object), "name");
}

export function namespaceOf(object: ApiObject): string {
  return textOf(metadataOf(object), "namespace");
}

export function uidOf(object: ApiObject): string {
  return textOf(metadataOf(object), "uid");
}

export function isDeleting(object: ApiObject): boolean {
  return textOf(metadataOf(object), "deletionTimestamp") !== "";
}

export function finalizersOf(object: ApiObject): readonly string[] {
  return textsOf(metadataOf(object), "finalizers");
}

/** The object with these fields in its metadata; one that is left empty goes, as the server would not store it. */
export function withMetadata(object: ApiObject, change: JsonObject): ApiObject {
  const empty = Object.keys(change).filter((field) => isEmpty(change[field]));
  return { ...object, metadata: without({ ...metadataOf(object), ...change }, ...empty) };
}

function isEmpty(value: Json | undefined): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

export function withoutFinalizer(object: ApiObject, finalizer: string): ApiObject {
  return withMetadata(object, { finalizers: finalizersOf(object).filter((other) => other !== finalizer) });
}

export function ownersOf(object: ApiObject): readonly JsonObject[] {
  return objectsOf(metadataOf(object), "ownerReferences");
}

/** The uid of its controller; undefined where it has none. */
export function controllerUid(object: ApiObject): string | undefined {
  const controller = ownersOf(object).find((owner) => owner["controller"] === true);
  return controller === undefined ? undefined : textOf(controller, "uid");
}

/** The reference that a controller puts into what it makes. */
export function controllerReference(owner: ApiObject): JsonObject {
  return {
    apiVersion: textOf(owner, "apiVersion"),
    kind: textOf(owner, "kind"),
    name: nameOf(owner),
    uid: uidOf(owner),
    controller: true,
    blockOwnerDeletion: true,
  };
}

export function isSameResource(one: ResourceName, other: ResourceName): boolean {
  return one.group === other.group && one.resource === other.resource;
}

export function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** RFC 3339 in whole seconds, as all times of the API. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** The list of conditions with these, each keeping its transition time while its status stays. */
export function withConditions(status: JsonObject, wanted: readonly JsonObject[], now: string): readonly JsonObject[] {
  const present = objectsOf(status, "conditions");
  return wanted.map((condition) => {
    const former = present.find((other) => other["type"] === condition["type"]);
    const isSame = former !== undefined && former["status"] === condition["status"];
    const since = isSame ? (former["lastTransitionTime"] ?? now) : now;
    return { ...condition, lastTransitionTime: since };
  });
}
