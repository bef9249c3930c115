/**
 * Reads a number as Go's `strconv.ParseFloat` with 64 bits does: also `1e3`, `010`, `1_0`, `inf`, `NaN` and `0x1p9`. Undefined for
 * what Go refuses, which includes numbers that are too large. Linear in time.
 */
export function parseGoFloat(text: string): number | undefined {
  const special = specialPattern.exec(text);
  if (special !== null) return special[2] === undefined ? Number.NaN : special[1] === "-" ? -Infinity : Infinity;
  if (!areUnderscoresValid(text)) return undefined;
  const digits = text.includes("_") ? text.replaceAll("_", "") : text;
  const value = decimalPattern.test(digits) ? Number(digits) : hexadecimal(digits);
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}

const specialPattern = /^(?:([+-]?)(inf(?:inity)?)|nan)$/i;
const decimalPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const hexadecimalPattern = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/;

/** Each underscore lies between two digits, or between the prefix of a number and a digit. */
function areUnderscoresValid(text: string): boolean {
  if (!text.includes("_")) return true;
  const isHexadecimal = /^[+-]?0[xX]/.test(text);
  const digits = isHexadecimal ? "[0-9a-fA-F]" : "[0-9]";
  const before = isHexadecimal ? "[0-9a-fA-FxX]" : "[0-9]";
  return !new RegExp(`^_|_$|(?<!${before})_|_(?!${digits})`).test(text);
}

/** Bits that a double holds, and the exponents of its least and greatest bit. */
const mantissaBits = 53;
const leastExponent = -1_074;
const greatestExponent = 1_023;

/** Rounds to the nearest double, to the even one of two. */
function hexadecimal(text: string): number | undefined {
  const [, sign, whole = "", fraction = "", exponentText] = hexadecimalPattern.exec(text) ?? [];
  if (exponentText === undefined || whole + fraction === "") return undefined;
  const mantissa = BigInt(`0x${whole}${fraction}`);
  if (mantissa === 0n) return 0;
  const exponent = Number(exponentText) - 4 * fraction.length;
  const bits = mantissa.toString(2).length;
  if (exponent + bits - 1 > greatestExponent) return undefined;
  // How many of the last bits a double of this size does not hold.
  const dropped = Math.max(bits - mantissaBits, leastExponent - exponent);
  const kept = dropped <= 0 ? mantissa : dropped > bits ? 0n : roundedShift(mantissa, BigInt(dropped));
  const value = scaled(Number(kept), exponent + Math.max(dropped, 0));
  return sign === "-" ? -value : value;
}

function roundedShift(mantissa: bigint, bits: bigint): bigint {
  const kept = mantissa >> bits;
  const rest = mantissa - (kept << bits);
  const half = 1n << (bits - 1n);
  return rest > half || (rest === half && (kept & 1n) === 1n) ? kept + 1n : kept;
}

/** In two steps, since 2 to this exponent may be no double although the product is one. */
function scaled(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (exponent - half);
}
