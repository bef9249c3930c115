import type { ApiObject } from "../core/api-object.ts";
import { formatJson, isJsonObject, type JsonObject, parseJson } from "../core/json.ts";

/** Where an object is: `resource` is `GROUP/PLURAL` (`apps/deployments`, `/pods`), whatever the version asked for. */
export interface ObjectKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * An object as it is kept: JSON texts, so that most reads pass them on without parsing, and a metadata list never
 * touches the body. `apiVersion` and `kind` are not kept: they follow from the resource.
 */
export interface StoredObject extends ObjectKey {
  readonly revision: number;
  readonly uid: string;
  /** `metadata.labels` alone, for selectors. */
  readonly labels: string;
  readonly metadata: string;
  /** Everything but `apiVersion`, `kind` and `metadata`; empty if it was not read. */
  readonly body: string;
}

/** The texts of an object, which then has this revision as its resourceVersion. */
export function storedObject(key: ObjectKey, object: ApiObject, revision: number): StoredObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata: given = {}, ...body } = object;
  const metadata: JsonObject = { ...(isJsonObject(given) ? given : {}), resourceVersion: String(revision) };
  const { uid, labels } = metadata;
  return {
    resource: key.resource,
    namespace: key.namespace,
    name: key.name,
    revision,
    uid: typeof uid === "string" ? uid : "",
    labels: labels === undefined ? "{}" : JSON.stringify(labels),
    metadata: formatJson(metadata),
    body: formatJson(body),
  };
}

export function parseStored(stored: StoredObject, apiVersion: string, kind: string): ApiObject {
  const body: unknown = parseJson(stored.body);
  return { kind, apiVersion, metadata: parseMetadata(stored), ...(isJsonObject(body) ? body : {}) };
}

export function parseMetadata(stored: StoredObject): JsonObject {
  const metadata: unknown = parseJson(stored.metadata);
  return isJsonObject(metadata) ? metadata : {};
}

export function parseLabels(stored: StoredObject): JsonObject {
  if (stored.labels === "{}") return {};
  const labels: unknown = JSON.parse(stored.labels);
  return isJsonObject(labels) ? labels : {};
}

/** The object's JSON text without parsing; `identity` is false for items of a list of built-in kinds. */
export function textOfStored(stored: StoredObject, apiVersion: string, kind: string, identity = true): string {
  const head = identity ? `"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},` : "";
  const rest = stored.body === "{}" ? "}" : `,${stored.body.slice(1)}`;
  return `{${head}"metadata":${stored.metadata}${rest}`;
}
