import type { ApiObject } from "../core/api-object.ts";
import { isJsonObject } from "../core/json.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import type { Allocator } from "../rules/allocate.ts";
import type { Store } from "../store/store.ts";
import { parseStored, type StoredObject } from "../store/stored-object.ts";
import { convertObject } from "./convert-object.ts";
import type { Resources } from "./resources.ts";

/** What every request works on. */
export interface Cluster {
  readonly store: Store;
  readonly resources: Resources;
  readonly allocator: Allocator;
  readonly now: () => Date;
}

/** The object as kept, in the version it is kept in. */
export function parseKept(resource: Resource, stored: StoredObject): ApiObject {
  return parseStored(stored, apiVersionOf(resource.storage), resource.kind);
}

/** The object in the version that the request asks for. */
export function parseAsked(resource: Resource, stored: StoredObject): ApiObject {
  return convertObject(parseKept(resource, stored), resource.storage, resource);
}

export function readObject(
  cluster: Cluster,
  resource: Resource,
  namespace: string,
  name: string,
): ApiObject | undefined {
  const stored = cluster.store.get({ resource: resource.key, namespace, name });
  return stored === undefined ? undefined : parseAsked(resource, stored);
}

export function metadataOf(object: ApiObject) {
  const { metadata } = object;
  return isJsonObject(metadata) ? metadata : {};
}

/** RFC 3339 in whole seconds, as all times of the API. */
export function timestamp(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`;
}
