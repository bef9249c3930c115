import type { ApiObject, FieldError } from "../api-object.ts";

/** Errors of a CustomResourceDefinition itself. `validateObject` calls it for that kind. */
export function validateCrd(_object: ApiObject, _old: ApiObject | undefined): readonly FieldError[] {
  return [];
}
