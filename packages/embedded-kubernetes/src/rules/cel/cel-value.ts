import { canonicalJson, isInteger, isJsonObject, isNumber, type Json, type JsonObject } from "../../core/json.ts";
import { parseQuantity, type Quantity } from "../../core/quantity.ts";
import { CelFailure } from "./cel-failure.ts";

/** A value that JSON has no word for: times in milliseconds, durations in seconds, quantities. */
export type CelValue =
  | Json
  | { readonly duration: number; readonly celType: "duration" }
  | { readonly time: number; readonly celType: "timestamp" }
  | { readonly quantity: Quantity; readonly celType: "quantity" }
  | { readonly typeName: string; readonly celType: "type" };

/** What order comparisons compare; undefined for what has no order. */
export function orderOf(value: CelValue): number | string | bigint | boolean | undefined {
  if (isNumber(value) || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null || !("celType" in value)) return undefined;
  if ("duration" in value && typeof value.duration === "number") return value.duration;
  if ("time" in value && typeof value.time === "number") return value.time;
  if (isQuantity(value)) return value.quantity.nanos;
  return undefined;
}

export function isQuantity(value: CelValue): value is { readonly quantity: Quantity; readonly celType: "quantity" } {
  return typeof value === "object" && value !== null && "celType" in value && value.celType === "quantity";
}

export function isSame(one: CelValue, other: CelValue): boolean {
  if (one === other) return true;
  const [first, second] = [orderOf(one), orderOf(other)];
  if (first !== undefined || second !== undefined) return first === second && typeof one === typeof other;
  return canonicalJson(one) === canonicalJson(other);
}

/** @throws {CelFailure} if it is neither true nor false */
export function truth(value: CelValue): boolean {
  if (typeof value === "boolean") return value;
  throw new CelFailure("no such overload");
}

export function textOrFail(value: CelValue | undefined): string {
  if (typeof value === "string") return value;
  throw new CelFailure("no such overload");
}

export function numberOrFail(value: CelValue | undefined): number {
  if (isNumber(value)) return Number(value);
  throw new CelFailure("no such overload");
}

export function listOrFail(value: CelValue | undefined): readonly Json[] {
  if (isJsonList(value)) return value;
  throw new CelFailure("no such overload");
}

/** An object of the custom resource, as opposed to a time or a quantity. */
export function mapOf(value: CelValue | undefined): JsonObject | undefined {
  return isJsonObject(value) && !("celType" in value) ? value : undefined;
}

export function isJsonList(value: CelValue | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Only JSON may stand in lists and maps: what the schema of a custom resource can hold. */
export function jsonOrFail(value: CelValue): Json {
  if (value === null || typeof value !== "object" || isJsonList(value)) return value;
  const map = mapOf(value);
  if (map !== undefined) return map;
  throw new CelFailure("no such overload");
}

export function quantityOf(text: string): CelValue {
  return { quantity: parseQuantity(text), celType: "quantity" };
}

const unitSeconds: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };

/** Seconds of Go's duration text (`1h30m`). */
export function durationOf(text: string): CelValue {
  const parts = [...text.replace(/^[-+]/, "").matchAll(/(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|ns|h|m|s)/g)];
  const isWhole = parts.map(([part]) => part).join("") === text.replace(/^[-+]/, "") && parts.length > 0;
  if (!isWhole && text !== "0")
    throw new CelFailure(`type conversion error from 'string' to 'google.protobuf.Duration'`);
  const seconds = parts.reduce(
    (sum, [, amount = "0", unit = "s"]) => sum + Number(amount) * (unitSeconds[unit] ?? 0),
    0,
  );
  return { duration: text.startsWith("-") ? -seconds : seconds, celType: "duration" };
}

export function timestampOf(text: string): CelValue {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new CelFailure("type conversion error from 'string' to 'google.protobuf.Timestamp'");
  return { time, celType: "timestamp" };
}

export function typeNameOf(value: CelValue): string {
  if (value === null) return "null_type";
  if (isJsonList(value)) return "list";
  if (isNumber(value)) return isInteger(value) ? "int" : "double";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "map";
}
