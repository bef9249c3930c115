import { isJsonObject } from "./json.ts";

/** JSON text with sorted keys and without `undefined`, so equal values have equal text and so equal digests. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (!isJsonObject(value)) return value === undefined ? "null" : JSON.stringify(value);
  let fields = "";
  for (const key of Object.keys(value).toSorted()) {
    const field = value[key];
    if (field === undefined) continue;
    fields += `${fields === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(field)}`;
  }
  return `{${fields}}`;
}
