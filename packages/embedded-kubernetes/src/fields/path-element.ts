import { formatJson, isJsonObject, type Json, type JsonObject, parseJson } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

/** An item that cannot be told from others in its list-map or set. */
export class PathElementError extends Error {
  override readonly name = "PathElementError";
}

export function fieldKey(field: string): string {
  return `f:${field}`;
}

/**
 * How fieldsV1 names an item of a list-map (`k:` and its keys, sorted, left-out ones with their schema default) or of
 * a set (`v:` and the value).
 *
 * @throws {PathElementError} in the words of structured-merge-diff
 */
export function itemKey(list: TypeSchema, item: Json): string {
  return list.listType === "map" ? mapItemKey(list, item) : setItemKey(item);
}

function setItemKey(item: Json): string {
  if (item === null) throw new PathElementError("associative list without keys has an element that's an explicit null");
  if (typeof item === "object") {
    const type = isJsonObject(item) ? "map" : "list";
    throw new PathElementError(`associative list without keys has an element that's a ${type} type`);
  }
  return `v:${formatJson(item)}`;
}

function mapItemKey(list: TypeSchema, item: Json): string {
  if (item === null) throw new PathElementError("associative list with keys may not have a null element");
  if (!isJsonObject(item)) throw new PathElementError("associative list with keys may not have non-map elements");
  const keys: [string, Json][] = [];
  for (const key of [...(list.mapKeys ?? [])].sort()) {
    const value = Object.hasOwn(item, key) ? item[key] : list.items?.properties?.[key]?.default;
    if (value !== undefined) keys.push([key, value]);
  }
  if (keys.length === 0) {
    throw new PathElementError(
      `associative list with keys has an element that omits all key fields [${(list.mapKeys ?? []).map((key) => JSON.stringify(key)).join(" ")}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${formatJson(Object.fromEntries(keys))}`;
}

/** A path as conflicts and errors print it: `.spec.containers[name="app"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join("");
}

export function elementText(key: string): string {
  const rest = key.slice(2);
  if (key.startsWith("f:")) return `.${rest}`;
  if (key.startsWith("v:")) return `[=${rest}]`;
  if (key.startsWith("i:")) return `[${rest}]`;
  const keys: unknown = parseJson(rest);
  return isJsonObject(keys) ? keysText(keys) : `[${rest}]`;
}

function keysText(keys: JsonObject): string {
  const texts = Object.entries(keys).map(([key, value]) => `${key}=${formatJson(value)}`);
  return `[${texts.join(",")}]`;
}
