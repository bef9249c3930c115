import type { Json } from "../../core/json.ts";
import { isJsonList, isJsonObject } from "../../core/json.ts";
import { maxIndexDepth } from "./index-limits.ts";

// JSON as Go's json.MarshalIndent with two spaces writes it.

const escaped: ReadonlyMap<string, string> = new Map([
  ["<", String.raw`\u003c`],
  [">", String.raw`\u003e`],
  ["&", String.raw`\u0026`],
  ["\u2028", String.raw`\u2028`],
  ["\u2029", String.raw`\u2029`],
]);

/** A string as Go writes it: with escapes for what HTML would read. */
export function goString(text: string): string {
  const json = JSON.stringify(text);
  return /[<>&\u2028\u2029]/.test(json) ? json.replace(/[<>&\u2028\u2029]/g, (one) => escaped.get(one) ?? one) : json;
}

/** An object; `fields` are names and their values as JSON, in order. */
export function goObject(fields: readonly (readonly [name: string, json: string])[], indent: string): string {
  if (fields.length === 0) return "{}";
  const lines = fields.map(([name, json]) => `\n${indent}  ${goString(name)}: ${json}`);
  return `{${lines.join(",")}\n${indent}}`;
}

export function goList(items: readonly string[], indent: string): string {
  return items.length === 0 ? "[]" : `[${items.map((item) => `\n${indent}  ${item}`).join(",")}\n${indent}]`;
}

/** What may still be written: a value that aliases share is written each time. */
export class JsonBudget {
  readonly #limit: number;
  #left: number;

  /** @param limit bytes of all that is written, of which `used` are */
  constructor(limit: number, used = 0) {
    this.#limit = limit;
    this.#left = limit - used;
  }

  /** Throws a `RangeError` where more is written than the limit. */
  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new RangeError(`it takes more than ${this.#limit} bytes as JSON`);
  }
}

/** A value of any kind. Throws a `RangeError` above the budget, and for one that nests too deep, as one that holds itself does. */
export function goValue(value: Json, indent: string, budget: JsonBudget, depth = 0): string {
  if (depth > maxIndexDepth) throw new RangeError(`it nests deeper than ${maxIndexDepth} levels`);
  budget.spend(indent.length + (typeof value === "string" ? Buffer.byteLength(value) : 1));
  if (typeof value === "string") return goString(value);
  if (value === null || typeof value !== "object") return String(value);
  const inner = `${indent}  `;
  if (isJsonList(value)) {
    return goList(
      value.map((item) => goValue(item, inner, budget, depth + 1)),
      indent,
    );
  }
  if (!isJsonObject(value)) throw new TypeError("a value that JSON does not have");
  const fields = Object.keys(value)
    .toSorted()
    .map((key) => {
      budget.spend(Buffer.byteLength(key));
      return [key, goValue(value[key] ?? null, inner, budget, depth + 1)] as const;
    });
  return goObject(fields, indent);
}

const time = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(Z|[-+]\d\d:\d\d)$/;

/** A moment in RFC 3339, as Go writes it back. Undefined if it is not one. */
export function goTime(text: string): { readonly text: string; readonly at: number } | undefined {
  const [, year, month, day, hours, minutes, seconds, fraction = "", zone] = time.exec(text) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}${zone}`);
  if (zone === undefined || Number.isNaN(at) || Number(hours) > 23) return undefined;
  const digits = fraction.replace(/0+$/, "");
  const [shownZone, shownFraction] = [/^[-+]00:00$/.test(zone) ? "Z" : zone, digits === "" ? "" : `.${digits}`];
  return {
    text: `${year}-${month}-${day}T${hours}:${minutes}:${seconds}${shownFraction}${shownZone}`,
    at: at + Number(`0.${digits || "0"}`) * 1_000,
  };
}

/** The time of Go's that was never set. */
export const zeroTime = "0001-01-01T00:00:00Z";
