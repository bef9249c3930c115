import { isJsonObject } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";

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

/** The object in the order in which Go prints a patched one: its top level is a sorted map, its metadata a struct. */
export function printedObject(object: ApiObject): ApiObject {
  const sorted = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  const { metadata } = object;
  if (!isJsonObject(metadata)) return Object.fromEntries(sorted);
  const place = (field: string): number => metadataFields.indexOf(field);
  const fields = Object.entries(metadata).sort(([a], [b]) => place(a) - place(b));
  return { ...Object.fromEntries(sorted), metadata: Object.fromEntries(fields) };
}
