import { randomBytes } from "node:crypto";
import { checkJson, endOfString } from "./json-text.ts";

/**
 * Any JSON value. Everything sent to or received from a Kubernetes API is one. A whole number that a double cannot hold is a `bigint`
 * (adr/0045), so such values are read by {@link parseJson} and written by {@link formatJson}.
 */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

declare global {
  // Node has it; the compiler's library does not declare it yet.
  interface JSON {
    rawJSON(text: string): object;
  }
}

/** The API server keeps whole numbers of 64 bits, and reads every other number as a double, as Go does. */
const [minInteger, maxInteger] = [-(2n ** 63n), 2n ** 63n - 1n];

/**
 * Digits that only a whole number of more than 53 bits can have, where a value begins. Such numbers are rare, and searching for them is
 * cheap.
 */
const longInteger = /(?:^|[:[,])\s*-?\d{16}/;
const longIntegers = /(?:^|[:[,])\s*(-?\d{16,19})(?=\s*(?:[,}\]]|$))/g;

/** The limit for whole numbers in one text that a double cannot hold: each costs far more than another value. */
export const maxLongIntegers = 50_000;

/** Begins the strings that stand for whole numbers while a text is parsed. No text can know it. */
const mark = `${randomBytes(12).toString("base64")} `;

/**
 * `JSON.parse` that loses no digit of a whole number of 64 bits. Throws a `SyntaxError`, or a `RangeError`: that of {@link checkJson}, or
 * for more than {@link maxLongIntegers}.
 */
export function parseJson(text: string): unknown {
  checkJson(text);
  return parseOwnJson(text);
}

/** {@link parseJson} of a text that our own module has written within its limits: it is not checked. Throws a `RangeError` for too many long numbers. */
export function parseOwnJson(text: string): unknown {
  if (!longInteger.test(text)) return JSON.parse(text);
  return withIntegers(JSON.parse(markedIntegers(text)));
}

/** The text with a string in place of each whole number that a double cannot hold. A reviver would be called for every value. */
function markedIntegers(text: string): string {
  const parts: string[] = [];
  let written = 0;
  let string = { begin: -1, end: -1 };
  for (const { 0: found, 1: digits = "", index: begin } of text.matchAll(longIntegers)) {
    const index = begin + found.length - digits.length;
    while (string.end < index) string = nextString(text, string.end + 1);
    const isInString = string.begin < index;
    const integer = isInString ? 0n : BigInt(digits);
    if (Number.isSafeInteger(Number(integer)) || integer < minInteger || integer > maxInteger) continue;
    if (parts.length >= 2 * maxLongIntegers) throw new RangeError(`it has more than ${maxLongIntegers} long numbers`);
    parts.push(text.slice(written, index), `"${mark}${digits}"`);
    written = index + digits.length;
  }
  return parts.join("") + text.slice(written);
}

/** The first string that begins here or later. Both are the text's length if there is none. */
function nextString(text: string, from: number): { readonly begin: number; readonly end: number } {
  const begin = text.indexOf('"', from);
  return begin === -1 ? { begin: text.length, end: text.length } : { begin, end: endOfString(text, begin) };
}

/** Puts the whole numbers back, in the value itself. */
function withIntegers(parsed: unknown): unknown {
  const containers: object[] = [];
  const restored = (value: unknown): unknown => {
    if (typeof value === "object" && value !== null) containers.push(value);
    return typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
  };
  const root = restored(parsed);
  for (let container = containers.pop(); container !== undefined; container = containers.pop()) {
    if (isList(container)) {
      for (const [index, value] of container.entries()) container[index] = restored(value);
    } else if (isFields(container)) {
      // Also of a field named `__proto__`, which is the object's own after JSON.parse.
      for (const key of Object.keys(container)) container[key] = restored(container[key]);
    }
  }
  return root;
}

function isList(value: object): value is unknown[] {
  return Array.isArray(value);
}

function isFields(value: object): value is Record<string, unknown> {
  return !Array.isArray(value);
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

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isJsonList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** The value as JSON, without fields that are undefined. Throws a `TypeError` for a value that JSON cannot express. */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string")
    return value;
  if (typeof value === "bigint") return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (!isPlainObject(value)) throw new TypeError(`a ${typeof value} is not JSON`);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, toJson(field)]));
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** {@link toJson} of an object. */
export function toJsonObject(value: object): JsonObject {
  const json = toJson(value);
  if (!isJsonObject(json)) throw new TypeError("an array is not a JSON object");
  return json;
}

/** Whether two JSON values are deeply equal. A field that is `undefined` counts as absent. */
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

/** JSON text with sorted keys and without `undefined`: equal values have equal texts, and therefore equal digests. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value === "bigint") return String(value);
  if (!isJsonObject(value)) return value === undefined ? "null" : JSON.stringify(value);
  let fields = "";
  for (const key of Object.keys(value).toSorted()) {
    const field = value[key];
    if (field === undefined) continue;
    fields += `${fields === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(field)}`;
  }
  return `{${fields}}`;
}
