import { isJsonObject, type JsonObject } from "../../core/json.ts";

/** The object in a field; empty if there is none. */
export function objectAt(object: unknown, ...path: readonly string[]): JsonObject {
  let value = object;
  for (const key of path) value = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(value) ? value : {};
}

/** The objects of the list in a field; none if it is not a list. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  return objectsOf(object[key]);
}

/** The objects of a list; none if it is not a list. */
export function objectsOf(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  // The digits past 2^53 of a bigint decide nothing here.
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}

export function textAt(object: JsonObject, key: string): string {
  const value = object[key];
  return typeof value === "string" ? value : "";
}

/** The fields with texts, for example of `data`. */
export function textsOf(object: JsonObject): Record<string, string> {
  const texts = Object.entries(object).flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : []));
  return Object.fromEntries<string>(texts.map(([key = "", value = ""]) => [key, value]));
}

/** The object without fields of these names. */
export function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** The fields of these names that the object has. */
export function only(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)));
}

/** The object with a change in the object of a field, where it has one. */
export function inField(holder: JsonObject, field: string, change: (value: JsonObject) => JsonObject): JsonObject {
  const value = holder[field];
  return isJsonObject(value) ? { ...holder, [field]: change(value) } : holder;
}

/** The object with a change in each object of a list, where it has one. */
export function inItems(holder: JsonObject, field: string, change: (item: JsonObject) => JsonObject): JsonObject {
  return Array.isArray(holder[field]) ? { ...holder, [field]: objectsAt(holder, field).map(change) } : holder;
}
