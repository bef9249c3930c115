/** What JSON can say. Everything that goes to or comes from a Kubernetes API is one of these. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isJsonList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** The value as JSON: fields that are undefined are left out. Throws a `TypeError` for what JSON cannot say. */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string")
    return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (!isPlainObject(value)) throw new TypeError(`a ${typeof value} is no JSON`);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, toJson(field)]));
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** {@link toJson} of an object. */
export function toJsonObject(value: object): JsonObject {
  const json = toJson(value);
  if (!isJsonObject(json)) throw new TypeError("an array is no JSON object");
  return json;
}
