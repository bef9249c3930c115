import type { FieldError } from "../../core/api-object.ts";
import { invalidValue, notSupported, required } from "../../core/field-errors.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { numberOf, textOf } from "../../core/json-fields.ts";
import { type NameRule, portName, portNumber, regexText } from "./name-rules.ts";

/** Checks of one field that many kinds share. Each answers the errors it finds, none when all is well. */
export type Errors = readonly FieldError[];

export const none: Errors = [];

export function named(field: string, text: string, rule: NameRule): Errors {
  return rule(text).map((problem) => invalidValue(field, text, problem));
}

/** A name that must be there and follow `rule`. */
export function requiredName(field: string, text: string, rule: NameRule): Errors {
  return text === "" ? [required(field)] : named(field, text, rule);
}

export function requiredText(field: string, text: string): Errors {
  return text === "" ? [required(field)] : none;
}

export function nonNegative(object: JsonObject | undefined, field: string, path: string): Errors {
  const value = numberOf(object, field);
  return value !== undefined && value < 0 ? [invalidValue(`${path}.${field}`, value, negativeText)] : none;
}

export const negativeText = "must be greater than or equal to 0";

/** One of a set; empty counts as missing. */
export function oneOf(field: string, text: string, supported: readonly string[]): Errors {
  if (text === "") return [required(field)];
  return supported.includes(text) ? none : [notSupported(field, text, supported)];
}

/** One of a set, where it is said at all. */
export function optionalOneOf(
  object: JsonObject | undefined,
  field: string,
  path: string,
  supported: readonly string[],
): Errors {
  const text = textOf(object, field);
  return text === "" || supported.includes(text) ? none : [notSupported(`${path}.${field}`, text, supported)];
}

export function port(field: string, value: number): Errors {
  return portNumber(value).map((problem) => invalidValue(field, value, problem));
}

export function portNumberOrName(field: string, value: Json | undefined): Errors {
  if (typeof value === "string") return named(field, value, portName);
  return port(field, typeof value === "number" ? value : 0);
}

const percent = /^[0-9]+%$/;

export function positiveIntOrPercent(field: string, value: Json | undefined): Errors {
  if (typeof value === "string" && !percent.test(value)) {
    const text = "a valid percent string must be a numeric string followed by an ending '%'";
    return [invalidValue(field, value, regexText(text, "[0-9]+%", "1%", "93%"))];
  }
  return typeof value === "number" && value < 0 ? [invalidValue(field, value, negativeText)] : none;
}

export function notAbove100Percent(field: string, value: Json | undefined): Errors {
  const isAbove = typeof value === "string" && percent.test(value) && Number.parseInt(value, 10) > 100;
  return isAbove ? [invalidValue(field, value, "must not be greater than 100%")] : none;
}

export function isZero(value: Json | undefined): boolean {
  return value === 0 || (typeof value === "string" && Number.parseInt(value, 10) === 0);
}

/** The errors of each item with its path `FIELD[INDEX]`. */
export function each<Item>(
  items: readonly Item[],
  path: string,
  check: (item: Item, path: string, index: number) => Errors,
): Errors {
  return items.flatMap((item, index) => check(item, `${path}[${index}]`, index));
}
