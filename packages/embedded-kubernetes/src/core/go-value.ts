import { formatJson, isJsonObject, type Json, type JsonObject } from "./json.ts";

/** Go's `%q` of a string: the way field errors and messages quote text. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

const structFields = Symbol("struct fields");

/** A Go struct, or a list of them, to be printed: its fields keep their order, where a map's keys are sorted. */
export interface GoStruct {
  readonly [structFields]: JsonObject | readonly JsonObject[];
}

export function goStruct(fields: JsonObject | readonly JsonObject[]): GoStruct {
  return { [structFields]: fields };
}

/** A value as `field.Error` prints it: scalars as they are, text quoted, the rest as Go's JSON. */
export function goValue(value: Json | GoStruct | undefined): string {
  if (isStruct(value)) return escapeHtml(formatJson(value[structFields]));
  if (typeof value === "string") return quote(value);
  return goJson(value ?? null);
}

function isStruct(value: Json | GoStruct | undefined): value is GoStruct {
  return typeof value === "object" && value !== null && structFields in value;
}

/** What Go's `json.Marshal` writes for a map: sorted keys, and `<`, `>`, `&` escaped. */
function goJson(value: Json): string {
  return escapeHtml(plainJson(value));
}

function escapeHtml(text: string): string {
  return text.replaceAll("<", "\\u003c").replaceAll(">", "\\u003e").replaceAll("&", "\\u0026");
}

function plainJson(value: Json): string {
  if (isList(value)) return `[${value.map(plainJson).join(",")}]`;
  if (isJsonObject(value)) return `{${entries(value).join(",")}}`;
  return formatJson(value);
}

function entries(object: JsonObject): string[] {
  return Object.keys(object)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${plainJson(object[key] ?? null)}`);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
