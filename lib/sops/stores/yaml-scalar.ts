import { goTime } from "../go-values.ts";
import { SopsFault } from "../sops-fault.ts";
import { type Scalar, SopsTime } from "../tree.ts";

const constants: ReadonlyMap<string, Scalar> = new Map<string, Scalar>([
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, Number.NaN] as const),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const time =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?(Z|[+-]\d\d:\d\d)| (\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?)?$/;

/** What go-yaml v3 takes a plain scalar for. Throws a {@link SopsFault} for an integer that is not an `int`, as sops does. */
export function resolvePlain(text: string): Scalar {
  const constant = constants.get(text);
  if (constant !== undefined) return constant;
  if (!/^[-+.0-9]/.test(text)) return text;
  const stamp = timeOf(text);
  if (stamp !== undefined) return stamp;
  const plain = text.startsWith(".") ? text : text.replaceAll("_", "");
  const whole = integerOf(plain);
  if (whole !== undefined) {
    if (BigInt.asIntN(64, whole) === whole) return whole;
    if (whole > 0n && BigInt.asUintN(64, whole) === whole) {
      throw new SopsFault("Cannot walk value, unknown type: uint64");
    }
  }
  const value = float.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? value : text;
}

/** As `strconv.ParseInt` reads it with base 0: by its prefix, a leading zero alone is octal. */
function integerOf(text: string): bigint | undefined {
  const [, sign, digits = ""] = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(text) ?? [];
  if (sign === undefined || digits.length > 80) return undefined;
  const value = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  return sign === "-" ? -value : value;
}

function timeOf(text: string): SopsTime | undefined {
  const [all, year, month = "", day = "", ...rest] = time.exec(text) ?? [];
  if (all === undefined) return undefined;
  const [hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] =
    rest[0] === undefined ? rest.slice(5) : rest;
  const two = (digits: string): string => digits.padStart(2, "0");
  const date = `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`;
  const read = goTime(`${date}${fraction.slice(0, 10)}${zone}`);
  return read === undefined ? undefined : new SopsTime(read.nano);
}

const base60 = /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/;
const oldBooleans = new Set([
  "y",
  "Y",
  "yes",
  "Yes",
  "YES",
  "on",
  "On",
  "ON",
  "n",
  "N",
  "no",
  "No",
  "NO",
  "off",
  "Off",
  "OFF",
]);

/** Whether go-yaml v3 reads the text back as this text, and therefore prints it without quotes. */
export function staysText(text: string): boolean {
  if (oldBooleans.has(text) || base60.test(text) || text === "<<") return false;
  try {
    return typeof resolvePlain(text) === "string";
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    return false;
  }
}
