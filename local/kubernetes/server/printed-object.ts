import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";
import { isList } from "../fields/type-shape.ts";

/** The fields of Go's ObjectMeta as they are declared, which is how they are printed. */
const metadataFields = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

/**
 * The object in the order in which Go prints a patched one: its top level is a sorted map, its metadata a struct. A
 * custom resource has no structs, so all of it is sorted.
 */
export function printedObject(object: ApiObject, isCustom: boolean): ApiObject {
  if (isCustom) return sortedObject(object);
  const sorted = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  const { metadata } = object;
  if (!isJsonObject(metadata)) return Object.fromEntries(sorted);
  const place = (field: string): number => metadataFields.indexOf(field);
  const fields = Object.entries(metadata).sort(([a], [b]) => place(a) - place(b));
  return { ...Object.fromEntries(sorted), metadata: Object.fromEntries(fields) };
}

function sortedObject(object: JsonObject): JsonObject {
  const fields = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([field, value]) => [field, sortedValue(value)]));
}

function sortedValue(value: Json): Json {
  if (isList(value)) return value.map(sortedValue);
  return isJsonObject(value) ? sortedObject(value) : value;
}
