import type { Json, JsonObject } from "../../../lib/core/json.ts";
import { isJsonObject } from "../../../lib/core/json.ts";

/** Go's `%q` of a string: the way field errors and messages quote text. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

/** A value as `field.Error` prints it: scalars as they are, text quoted, the rest as Go's JSON with sorted keys. */
export function goValue(value: Json | undefined): string {
  if (typeof value === "string") return quote(value);
  return goJson(value ?? null);
}

/** What Go's `json.Marshal` writes for a map: sorted keys, and `<`, `>`, `&` escaped. */
export function goJson(value: Json): string {
  return plainJson(value).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e").replaceAll("&", "\\u0026");
}

function plainJson(value: Json): string {
  if (isList(value)) return `[${value.map(plainJson).join(",")}]`;
  if (isJsonObject(value)) return `{${entries(value).join(",")}}`;
  return JSON.stringify(value);
}

function entries(object: JsonObject): string[] {
  return Object.keys(object)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${plainJson(object[key] ?? null)}`);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
