import { equal, isJsonList, isJsonObject, type Json, type JsonObject, parseJson } from "../core/json.ts";
import { type JsonPointer, valueAt } from "../core/json-pointer.ts";
import type { LiveObject, ManagedFieldsEntry } from "../core/manifest.ts";
import type { OwnerStyle } from "./set/owner-style.ts";

/** Managed fields (`fieldsV1`) without the field that the pointer names in this object, and without parents that become empty. */
export function withoutOwned(fields: JsonObject, object: Json, pointer: JsonPointer): JsonObject {
  return without(fields, object, pointer) ?? {};
}

function without(fields: JsonObject, value: Json | undefined, pointer: JsonPointer): JsonObject | undefined {
  const [part, ...rest] = pointer;
  // A leaf is owned as a whole: managed fields do not describe its parts.
  if (part === undefined || Object.keys(fields).length === 0) return undefined;
  const key = keyOf(fields, value, part);
  const child = key === undefined ? undefined : fields[key];
  if (key === undefined || !isJsonObject(child)) return fields;
  const { [key]: _former, ...others } = fields;
  const left = without(child, valueAt(value, [part]), rest);
  if (left !== undefined) return { ...others, [key]: left };
  return Object.keys(others).length === 0 ? undefined : others;
}

/** Whether another manager than ours has applied exactly the field that the pointer names (reference 3.14, strip). */
export function isAppliedByOther(
  { metadata, ...content }: LiveObject,
  pointer: JsonPointer,
  { manager: own }: Pick<OwnerStyle, "manager">,
): boolean {
  const object: unknown = { ...content, metadata };
  if (!isJsonObject(object)) return false;
  const entries: readonly ManagedFieldsEntry[] = metadata.managedFields ?? [];
  return entries.some(
    ({ manager, operation, subresource = "", fieldsV1 = {} }) =>
      operation === "Apply" && subresource === "" && manager !== own && owns(fieldsV1, object, pointer),
  );
}

function owns(fields: JsonObject, value: Json | undefined, pointer: JsonPointer): boolean {
  const [part, ...rest] = pointer;
  if (part === undefined) return true;
  const key = keyOf(fields, value, part);
  const child = key === undefined ? undefined : fields[key];
  return isJsonObject(child) && owns(child, valueAt(value, [part]), rest);
}

/** The name of a pointer's part in managed fields: `f:` and a name, or `k:` and the keys of a list's item. */
function keyOf(fields: JsonObject, value: Json | undefined, part: string): string | undefined {
  if (value === undefined || !isJsonList(value)) return Object.hasOwn(fields, `f:${part}`) ? `f:${part}` : undefined;
  const item = valueAt(value, [part]);
  if (item === undefined || !isJsonObject(item)) return undefined;
  return Object.keys(fields).find((key) => key.startsWith("k:") && isKeyOf(key.slice(2), item));
}

function isKeyOf(keys: string, item: JsonObject): boolean {
  const parsed: unknown = parseJson(keys);
  return isJsonObject(parsed) && Object.entries(parsed).every(([name, value]) => equal(item[name], value));
}
