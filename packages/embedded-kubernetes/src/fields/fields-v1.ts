import { isJsonObject, type JsonObject, parseJson } from "../core/json.ts";
import { emptySet, type FieldSet, fieldSet, leaf, sortedKeys } from "./field-set.ts";

/** The set as `managedFields[].fieldsV1` holds it: `{}` for a leaf, `"."` for a member that has others below it. */
export function encodeFieldsV1(set: FieldSet): JsonObject {
  const entries: [string, JsonObject][] = [];
  if (set.isMember && set.children.size > 0) entries.push([".", {}]);
  for (const key of sortedKeys(set)) entries.push([key, encodeFieldsV1(set.children.get(key) ?? emptySet)]);
  return Object.fromEntries(entries);
}

/** @throws {TypeError} for what is no fieldsV1 */
export function decodeFieldsV1(fields: JsonObject): FieldSet {
  const { ".": self, ...children } = fields;
  return fieldSet(self !== undefined, childrenOf(children));
}

function childrenOf(fields: JsonObject): ReadonlyMap<string, FieldSet> {
  const children = new Map<string, FieldSet>();
  for (const [key, value] of Object.entries(fields)) {
    if (!isJsonObject(value) || !isPathElement(key)) throw new TypeError(`fieldsV1: ${key} is no path element`);
    children.set(key, Object.keys(value).length === 0 ? leaf : decodeFieldsV1(value));
  }
  return children;
}

function isPathElement(key: string): boolean {
  if (key.startsWith("f:")) return true;
  if (!key.startsWith("k:") && !key.startsWith("v:") && !key.startsWith("i:")) return false;
  try {
    const parsed: unknown = parseJson(key.slice(2));
    return key.startsWith("k:") ? isJsonObject(parsed) : true;
  } catch {
    return false;
  }
}
