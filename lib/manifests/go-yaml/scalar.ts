import { goFloat, goInteger } from "./number.ts";

/** Bare words that go-yaml reads as a constant; every other one is a string, a number or a timestamp. */
const constants: ReadonlyMap<string, null | boolean> = new Map<string, null | boolean>([
  ["", null],
  ["~", null],
  ["null", null],
  ["Null", null],
  ["NULL", null],
  ["true", true],
  ["True", true],
  ["TRUE", true],
  ["false", false],
  ["False", false],
  ["FALSE", false],
]);

/** Booleans of YAML 1.1: go-yaml v3 reads them as strings, and go-yaml v2 writes such strings in quotes. */
const oldBooleans = ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF"];

/** Words that go-yaml v2 does not read back as a string. */
const reserved: ReadonlySet<string> = new Set([
  ...constants.keys(),
  ...oldBooleans,
  ...[".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", "<<"],
]);

const integer = /^-?(0|[1-9][0-9]{0,39})$/;
/** Without the forms of which only one of go-yaml v2 and v3 makes a number. */
const float = /^[-+]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][-+]?[0-9]{1,2})?$/;
const base60 = /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/;
const shortNumber =
  /^[-+]?(0[xX][0-9a-fA-F]{1,15}|0[bB][01]{1,60}|0[oO]?[0-7]{1,20}|[0-9]{1,40}|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,2})?)$/;
const longNumber = /^[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)$/;
const timestamp =
  /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z)?$/;

/** The value of a plain scalar; undefined if only go-yaml can tell. */
export function plainValue(text: string): { readonly value: null | boolean | number | bigint | string } | undefined {
  const constant = constants.get(text);
  if (constant !== undefined) return { value: constant };
  if (!/^[-+.0-9<=]/.test(text)) return { value: text };
  if (integer.test(text)) return { value: goInteger(BigInt(text)) };
  if (/[.eE]/.test(text) && float.test(text)) return { value: goFloat(Number(text)) };
  if (reserved.has(text) || text === "=") return undefined;
  return readsAsNumberOrTime(text) === false ? { value: text } : undefined;
}

/** Whether YAML 1.1, in which kustomize reads JSON patches, may take another value for this plain scalar than YAML 1.2. */
export function isOtherInYaml11(text: string): boolean {
  return oldBooleans.includes(text) || base60.test(text);
}

/** Whether go-yaml v2 writes this string without quotes, because it reads it back as the same string. Undefined if not certain. */
export function staysString(text: string): boolean | undefined {
  if (reserved.has(text)) return false;
  if (!/^[-+.0-9]/.test(text)) return true;
  if (base60.test(text)) return false;
  const other = readsAsNumberOrTime(text);
  return other === undefined ? undefined : !other;
}

function readsAsNumberOrTime(text: string): boolean | undefined {
  if (/^[0-9]{4}-/.test(text)) {
    if (timestamp.test(text)) return true;
    return /[^-0-9TtZz:.+ ]/.test(text) ? false : undefined;
  }
  // After a leading dot only one of go-yaml v2 and v3 ignores underscores.
  if (text.startsWith(".") && text.includes("_")) return undefined;
  const digits = text.replaceAll("_", "");
  if (shortNumber.test(digits)) return true;
  return longNumber.test(digits) || digits === "" ? undefined : false;
}

/** Control characters except tab and line feed, unusual line ends and byte order marks: YAML readers and writers differ on these. */
export const oddCharacter = /[^\P{Cc}\t\n]|[\u2028\u2029\ufeff\ufffe\uffff]/u;
