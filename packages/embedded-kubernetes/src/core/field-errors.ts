import type { FieldError } from "./api-object.ts";
import { type GoStruct, goValue, quote } from "./go-value.ts";
import type { Json } from "./json.ts";

/**
 * The constructors of `k8s.io/apimachinery/pkg/util/validation/field`, with its texts. `detail` is what follows the
 * type and the value.
 */
export function required(field: string, detail = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: withDetail("Required value", detail) };
}

export function invalidValue(field: string, value: Json | GoStruct | undefined, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: withDetail(`Invalid value: ${goValue(value)}`, detail) };
}

export function typeInvalid(field: string, value: Json | GoStruct | undefined, detail: string): FieldError {
  return { reason: "FieldValueTypeInvalid", field, message: withDetail(`Invalid value: ${goValue(value)}`, detail) };
}

/** `supported` is printed in the order given: some Go checks sort their sets, some do not. */
export function notSupported(
  field: string,
  value: Json | GoStruct | undefined,
  supported: readonly string[],
): FieldError {
  const values = supported.length > 0 ? `supported values: ${supported.map(quote).join(", ")}` : "";
  return {
    reason: "FieldValueNotSupported",
    field,
    message: withDetail(`Unsupported value: ${goValue(value)}`, values),
  };
}

export function duplicate(field: string, value: Json | GoStruct): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${goValue(value)}` };
}

export function forbidden(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: withDetail("Forbidden", detail) };
}

export function tooLong(field: string, maxBytes: number): FieldError {
  return { reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${maxBytes} bytes` };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  const items = `${max} ${max === 1 ? "item" : "items"}`;
  return { reason: "FieldValueTooMany", field, message: `Too many: ${actual}: must have at most ${items}` };
}

export function notFound(field: string, value: Json): FieldError {
  return { reason: "FieldValueNotFound", field, message: `Not found: ${goValue(value)}` };
}

function withDetail(head: string, detail: string): string {
  return detail === "" ? head : `${head}: ${detail}`;
}
