import { isJsonObject, type Json } from "../../src/core/json.ts";
import { plainText } from "../../src/core/plain-text.ts";
import type { Comparing } from "./recorded-case.ts";

/** An answer's body as the fixtures write it: parts left out, lists without an order of their own sorted. */
export function comparable(body: Json, { keep, ignore = [] }: Comparing, isClock: boolean): Json {
  const isStatus = isJsonObject(body) && body["kind"] === "Status" && body["apiVersion"] === "v1";
  const kept =
    keep === undefined || isStatus
      ? body
      : keptParts(
          body,
          keep.map((path) => path.split(".")),
        );
  // A Status is always whole, and so recorded.
  return ordered(kept, new Set(isStatus ? [] : ignore), isClock);
}

/** Only what the dotted paths name; `*` is every item. */
function keptParts(value: Json, paths: readonly (readonly string[])[]): Json {
  if (paths.some((path) => path.length === 0)) return value;
  if (isList(value)) {
    const inner = paths.filter(([first]) => first === "*").map((path) => path.slice(1));
    if (inner.length > 0) return value.map((item) => keptParts(item, inner));
    return value.map((item, index) => keptParts(item, pathsUnder(paths, String(index))));
  }
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).flatMap(([field, inner]): [string, Json][] => {
    const under = pathsUnder(paths, field);
    return under.length === 0 ? [] : [[field, keptParts(inner, under)]];
  });
  return Object.fromEntries(fields);
}

function pathsUnder(paths: readonly (readonly string[])[], field: string): readonly (readonly string[])[] {
  return paths.filter(([first]) => first === field || first === "*").map((path) => path.slice(1));
}

function ordered(value: Json, ignored: ReadonlySet<string>, isClock: boolean): Json {
  if (isList(value)) return value.map((item) => ordered(item, ignored, isClock));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([field]) => !ignored.has(field))
    .map(([field, inner]): [string, Json] => [field, sortedField(field, ordered(inner, ignored, isClock), isClock)]);
  return Object.fromEntries(entries);
}

function sortedField(field: string, value: Json, isClock: boolean): Json {
  if (!isList(value)) return value;
  if (field === "managedFields" && !isClock)
    return sortedBy(value, ["operation", "manager", "apiVersion", "subresource"]);
  if (field === "causes") return sortedBy(value, ["field", "message"]);
  // What a Table says of its columns is prose.
  return field === "columnDefinitions" ? value.map(withoutDescription) : value;
}

function withoutDescription(column: Json): Json {
  if (!isJsonObject(column)) return column;
  const { description: _description, ...rest } = column;
  return rest;
}

function sortedBy(list: readonly Json[], fields: readonly string[]): Json {
  const keyOf = (item: Json): string =>
    fields.map((field) => (isJsonObject(item) ? plainText(item[field]) : "")).join("\u0000");
  return list.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
