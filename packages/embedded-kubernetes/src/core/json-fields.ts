import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/**
 * Reading fields as Go's structs would have them: a missing string is empty, a missing list has no items. The typed
 * decoding before has refused other types, so a wrong type here only ever means "not there".
 */
export function textOf(object: JsonObject | undefined, field: string): string {
  const value = object?.[field];
  return typeof value === "string" ? value : "";
}

export function numberOf(object: JsonObject | undefined, field: string): number | undefined {
  const value = object?.[field];
  return typeof value === "number" ? value : undefined;
}

export function objectOf(object: JsonObject | undefined, field: string): JsonObject | undefined {
  const value = object?.[field];
  return isJsonObject(value) ? value : undefined;
}

export function itemsOf(object: JsonObject | undefined, field: string): readonly Json[] {
  const value = object?.[field];
  return isList(value) ? value : [];
}

/** The items that are objects; a null item counts as an empty one, as in a Go slice of structs. */
export function objectsOf(object: JsonObject | undefined, field: string): readonly JsonObject[] {
  return itemsOf(object, field).map((item) => (isJsonObject(item) ? item : {}));
}

export function textsOf(object: JsonObject | undefined, field: string): readonly string[] {
  return itemsOf(object, field).map((item) => (typeof item === "string" ? item : ""));
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** The object with `field` replaced by what `change` makes of it, where it is an object at all. */
export function mapObject(object: JsonObject, field: string, change: (value: JsonObject) => JsonObject): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? { ...object, [field]: change(value) } : object;
}

/** The object with every item of the list `field` changed, where it is a list at all. */
export function mapItems(object: JsonObject, field: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const value = object[field];
  return isList(value)
    ? { ...object, [field]: value.map((item) => (isJsonObject(item) ? change(item) : item)) }
    : object;
}

/** The object with those of `defaults` that it lacks (or has as null). */
export function withDefaults(object: JsonObject, defaults: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(([field]) => object[field] === undefined || object[field] === null);
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

export function without(object: JsonObject, ...fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}
