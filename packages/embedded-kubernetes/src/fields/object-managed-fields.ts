import type { ApiObject, ManagedFields } from "../core/api-object.ts";
import { isJsonObject, type Json, toJson } from "../core/json.ts";
import { parseManagedFields } from "./managers.ts";

/** The stored `metadata.managedFields`; an object without them, or with malformed ones, has none. */
export function managedFieldsOf(object: ApiObject | undefined): ManagedFields {
  return parseManagedFields(requested(object)) ?? [];
}

export function withoutManagedFields(object: ApiObject): ApiObject {
  const { metadata } = object;
  if (!isJsonObject(metadata) || metadata["managedFields"] === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** The object as it is stored and answered: `managedFields` in its metadata, none if no field has an owner. */
export function withManagedFields(object: ApiObject, managedFields: ManagedFields): ApiObject {
  const plain = withoutManagedFields(object);
  if (managedFields.length === 0) return plain;
  const { metadata } = plain;
  return { ...plain, metadata: { ...(isJsonObject(metadata) ? metadata : {}), managedFields: toJson(managedFields) } };
}

/**
 * The entries that an update (PUT, or a patch other than apply) starts from. Absent, null or malformed ones in the
 * request keep the stored; `[]` and `[{}]` clear them; well-formed ones are taken as given. Those in a request to a
 * subresource do not count.
 */
export function managedFieldsForUpdate(
  before: ApiObject | undefined,
  after: ApiObject,
  subresource?: string,
): ManagedFields {
  const asked = requested(after);
  if (subresource !== undefined || !Array.isArray(asked)) return managedFieldsOf(before);
  if (isReset(asked)) return [];
  return parseManagedFields(asked) ?? managedFieldsOf(before);
}

function isReset(asked: readonly Json[]): boolean {
  const [first] = asked;
  return first === undefined || (asked.length === 1 && isJsonObject(first) && Object.keys(first).length === 0);
}

function requested(object: ApiObject | undefined): Json | undefined {
  const metadata = object?.["metadata"];
  return isJsonObject(metadata) ? metadata["managedFields"] : undefined;
}
