import type { JsonObject } from "./json.ts";

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

/** The text of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export type ManagedFields = readonly ManagedFieldsEntry[];

/** One line of `metadata.managedFields`: who owns which fields. */
export interface ManagedFieldsEntry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: JsonObject;
  readonly subresource?: string;
}

/** Splits `apps/v1` into group and version; `v1` belongs to the core group, whose name is empty. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return slash === -1
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

export function formatApiVersion({ group, version }: { group: string; version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}
