/**
 * What JSON can say. Everything that goes to or comes from the API is one of these. A whole number of 64 bits that a double
 * cannot hold is a `bigint`, so {@link parseJson} and {@link formatJson} read and write it.
 */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

declare global {
  // Node has both; the compiler's library does not declare them yet.
  interface JSON {
    rawJSON(text: string): object;
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** The API server keeps whole numbers of 64 bits, and takes every other number for a double, as Go does. */
const [minInteger, maxInteger] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Digits that only a whole number of more than 53 bits can have, where a value begins. Rarely in a text, and cheap to look for. */
const longInteger = /[:[,]\s*-?\d{16}/;

/** `JSON.parse` that loses no digit of a whole number of 64 bits. Throws a `SyntaxError`. */
export function parseJson(text: string): unknown {
  if (!longInteger.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value, { source = "" }) =>
    typeof value === "number" ? exactly(value, source) : value,
  );
}

function exactly(value: number, source: string): number | bigint {
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value;
  const integer = BigInt(source);
  return minInteger <= integer && integer <= maxInteger ? integer : value;
}

/** `JSON.stringify` of values with integers of any size. The result has every digit of them. */
export function formatJson(value: unknown, space?: number): string {
  try {
    return JSON.stringify(value, undefined, space);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Tried only after it failed, since a replacer costs most of the values nothing but time.
    return JSON.stringify(value, rawInteger, space);
  }
}

function rawInteger(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? JSON.rawJSON(String(value)) : value;
}

/** A number of any size, as opposed to a text that looks like one. */
export function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** What Go reads into 64 bits: past these, a number without a point is a double to it. */
export function isInteger(value: unknown): value is number | bigint {
  return typeof value === "bigint" || Number.isSafeInteger(value);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as JSON: fields that are undefined are left out. Throws a `TypeError` for what JSON cannot say. */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string")
    return value;
  if (typeof value === "bigint") return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== "object") throw new TypeError(`a ${typeof value} is not JSON`);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, toJson(field)]));
}

/** Whether two JSON values say the same; a field that is `undefined` counts as absent. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = definedKeys(a);
  return keys.length === definedKeys(b).length && keys.every((key) => equal(a[key], b[key]));
}

function definedKeys(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}

/** JSON text with sorted keys and without `undefined`, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value === "bigint") return String(value);
  if (!isJsonObject(value)) return value === undefined ? "null" : JSON.stringify(value);
  const fields = Object.keys(value)
    .toSorted()
    .filter((key) => value[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${fields.join(",")}}`;
}
