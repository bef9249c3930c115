import type { ApiObject, ManagedFields } from "../core/api-object.ts";
import { equal, toJson } from "../core/json.ts";
import { managedFieldsOf, withManagedFields, withoutManagedFields } from "./object-managed-fields.ts";

export interface FinishedWrite {
  /** As it is to be stored, with its managedFields. */
  readonly object: ApiObject;
  /** Nothing differs from the stored object: it is not written, and keeps its resourceVersion. */
  readonly isUnchanged: boolean;
}

/**
 * The end of a write, after defaults and canonical values: an object that is the same but for the times of its
 * managers is not written. Where anything else differs the times stand as they were tracked.
 */
export function finishApply(
  before: ApiObject | undefined,
  after: ApiObject,
  managedFields: ManagedFields,
): FinishedWrite {
  const object = withManagedFields(after, managedFields);
  if (before === undefined) return { object, isUnchanged: false };
  const isSame =
    equal(withoutManagedFields(before), withoutManagedFields(after)) &&
    equal(withoutTimes(managedFieldsOf(before)), withoutTimes(managedFields));
  return isSame ? { object: before, isUnchanged: true } : { object, isUnchanged: false };
}

function withoutTimes(managedFields: ManagedFields): ReturnType<typeof toJson> {
  // Times decide the order too, so entries that differ in nothing else may stand in another one.
  const entries = managedFields.map((entry) => ({ ...entry, time: "" }));
  return toJson(entries.sort((a, b) => (orderKey(a) < orderKey(b) ? -1 : 1)));
}

function orderKey(entry: ManagedFields[number]): string {
  return [entry.operation, entry.manager, entry.apiVersion, entry.subresource ?? ""].join("\n");
}
