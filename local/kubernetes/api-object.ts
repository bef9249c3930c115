import type { JsonObject } from "../../lib/core/json.ts";
import type { ManagedFieldsEntry } from "../../lib/core/manifest.ts";

/** An object in the embedded API server: plain JSON, never mutated once stored. */
export type ApiObject = JsonObject;

/** A group, version and kind, the group empty for the core. */
export interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** One field error of a 422, in the words of `field.Error`: its `reason` decides the text's prefix and the cause's reason. */
export interface FieldError {
  readonly reason:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueNotSupported"
    | "FieldValueDuplicate"
    | "FieldValueForbidden"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueTypeInvalid"
    | "FieldValueNotFound";
  readonly field: string;
  /** The whole text after `FIELD: `, for example `Invalid value: 800000: must be between 1 and 65535, inclusive`. */
  readonly message: string;
}

/** A `metav1.Status` of failure, thrown anywhere below the HTTP layer and written out by it. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: JsonObject | undefined;

  constructor(code: number, reason: string | undefined, message: string, details?: JsonObject) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

export type ManagedFields = readonly ManagedFieldsEntry[];
