import { difference, type FieldSet, fieldSet, leaf } from "./field-set.ts";

const unownedMetadata = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "generation",
  "managedFields",
  "resourceVersion",
];

const unowned: FieldSet = fieldSet(
  false,
  new Map([
    ["f:apiVersion", leaf],
    ["f:kind", leaf],
    ["f:metadata", fieldSet(true, new Map(unownedMetadata.map((field) => [`f:${field}`, leaf])))],
  ]),
);

/** The set without the fields that never have an owner: the object's identity and what the server keeps itself. */
export function withoutUnowned(set: FieldSet): FieldSet {
  return difference(set, unowned);
}
