import { type ApiObject, StatusError } from "../core/api-object.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { isList } from "../fields/type-shape.ts";

/**
 * RFC 7386: maps are merged, null deletes, anything else replaces.
 *
 * @throws {StatusError} 400 for a patch that is not an object
 */
export function mergePatch(document: ApiObject, patch: Json): ApiObject {
  if (isJsonObject(patch)) return mergeMaps(document, patch);
  if (patch === null) throw new StatusError(400, "BadRequest", "Invalid JSON Patch");
  const type = isList(patch) ? "array" : typeof patch;
  const text = `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  throw new StatusError(400, "BadRequest", text);
}

function mergeMaps(document: JsonObject, patch: JsonObject): JsonObject {
  const result = new Map(Object.entries(document));
  for (const [field, value] of Object.entries(patch)) {
    const known = result.get(field);
    if (value === null) result.delete(field);
    else if (isJsonObject(known) && isJsonObject(value)) result.set(field, mergeMaps(known, value));
    // Where it replaces a map the Go library takes the value as it is, anywhere else without its nulls.
    else result.set(field, isJsonObject(known) ? value : withoutNulls(value));
  }
  // Go's maps are written by their keys in order, which shows where the outcome is printed or read again.
  return Object.fromEntries([...result].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([field, item]) => [field, withoutNulls(item)]));
}
