import { isInteger, isJsonObject, isNumber, type Json } from "../core/json.ts";

/** Go's name of the type that a JSON value is decoded to (`%T`). */
export function goType(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "boolean") return "bool";
  if (isNumber(value)) return isInteger(value) ? "int64" : "float64";
  return typeof value === "string" ? "string" : "map[string]interface {}";
}

/** The value as Go prints it plainly (`%v`): `map[a:1 b:[x y]]`. */
export function goText(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonObject(value)) return `map[${sortedEntries(value, goText, ":").join(" ")}]`;
  return typeof value === "object" ? `[${value.map(goText).join(" ")}]` : String(value);
}

/** The value in Go's syntax (`%#v`): `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json): string {
  if (value === null) return "interface {}(nil)";
  if (typeof value === "string") return JSON.stringify(value);
  if (isJsonObject(value)) return `map[string]interface {}{${sortedEntries(value, goSyntax, ":", true).join(", ")}}`;
  return typeof value === "object" ? `[]interface {}{${value.map(goSyntax).join(", ")}}` : String(value);
}

function sortedEntries(
  map: { readonly [key: string]: Json },
  print: (value: Json) => string,
  separator: string,
  isQuoted = false,
): readonly string[] {
  const keys = Object.keys(map).sort();
  return keys.map((key) => `${isQuoted ? JSON.stringify(key) : key}${separator}${print(map[key] ?? null)}`);
}

/** Go's kind of a JSON value, as `reflect` names it: `map`, `slice`, `string`. */
export function goKind(value: Json): string {
  if (isJsonObject(value)) return "map";
  return typeof value === "object" ? "slice" : goType(value);
}
