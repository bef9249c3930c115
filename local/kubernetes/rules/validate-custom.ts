import type { JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject, FieldError } from "../api-object.ts";

export interface CustomValidation {
  readonly object: ApiObject;
  readonly old: ApiObject | undefined;
  /** The version's `schema.openAPIV3Schema` as the definition has it. */
  readonly openAPIV3Schema: JsonObject;
  readonly namespaced: boolean;
  readonly subresource?: string;
}

/** Errors of a custom resource: metadata, schema, list types, and its `x-kubernetes-validations`. */
export function validateCustom(_validation: CustomValidation): readonly FieldError[] {
  return [];
}
