/** What go-yaml takes a bare word for; everything else is a string, a number or a timestamp. */
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

/** Booleans of YAML 1.1: go-yaml v3 reads them as strings, go-yaml v2 writes such strings quoted. */
const oldBooleans = ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF"];

/** Words that go-yaml v2 would read back as something else than a string. */
const reserved: ReadonlySet<string> = new Set([
  ...constants.keys(),
  ...oldBooleans,
  ...[".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", "<<"],
]);

const integer = /^(0|-?[1-9][0-9]*)$/;
const decimal = /^-?(0|[1-9][0-9]{0,4})\.[0-9]{1,9}$/;
const base60 = /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/;
const shortNumber =
  /^[-+]?(0[xX][0-9a-fA-F]{1,15}|0[bB][01]{1,60}|0[oO]?[0-7]{1,20}|[0-9]{1,40}|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,2})?)$/;
const longNumber = /^[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)$/;
const timestamp =
  /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z)?$/;

/** A plain scalar's value where it is certain, or undefined where only go-yaml itself should say. */
export function plainValue(
  text: string,
): { readonly value: null | boolean | number | string } | { readonly unsafeInteger: true } | undefined {
  const constant = constants.get(text);
  if (constant !== undefined) return { value: constant };
  if (!/^[-+.0-9<=]/.test(text)) return { value: text };
  if (integer.test(text)) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? { value } : { unsafeInteger: true };
  }
  if (decimal.test(text)) {
    const value = Number(text);
    // Go prints small fractions with an exponent, and zero without its sign.
    return Math.abs(value) >= 0.001 ? { value } : undefined;
  }
  if (reserved.has(text) || text === "=") return undefined;
  return readsAsNumberOrTime(text) === false ? { value: text } : undefined;
}

/** Whether go-yaml v2 writes this string bare, because it would read it back as the same string. Undecided: undefined. */
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
  // Where a dot is in front, only one of the two go-yamls overlooks underscores.
  if (text.startsWith(".") && text.includes("_")) return undefined;
  const digits = text.replaceAll("_", "");
  if (shortNumber.test(digits)) return true;
  return longNumber.test(digits) || digits === "" ? undefined : false;
}
