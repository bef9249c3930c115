/** The parts of a quantity that Go keeps: either an integer with a power of ten, or an exact decimal; the text only where it is canonical. */
interface GoQuantity {
  readonly value: bigint;
  readonly scale: number;
  readonly decimal?: { readonly unscaled: bigint; readonly scale: number };
  readonly text: string;
  readonly format: string;
}

interface Parts {
  readonly isNegative: boolean;
  /** Without leading zeros, but `0` if there is nothing else. */
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: "DecimalSI" | "BinarySI" | "DecimalExponent";
}

const shape = /^(?<sign>[+-]?)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?<suffix>(?:[eEinumkKMGTP]+(?:[+-]?\d+)?)?)$/;
const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const maxDigits = 18;
const nano = -9;
/** The API server itself would compute a number of so many digits for long. */
const maxExactExponent = 10_000;
const maxInt64 = 2n ** 63n - 1n;
const wordBits = 64n;

/**
 * A `resource.Quantity` as go-spew dumps it after client-go's decoder; undefined gives Go's zero value. Throws a `RangeError` for another
 * text. Pure.
 */
export function quantityDump(text: string | undefined): string {
  const { value, scale, decimal, text: kept, format } = text === undefined ? zero("", "") : parseQuantity(text.trim());
  const amount = `(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`;
  const exact = decimal === undefined ? "<nil>" : decimalDump(decimal);
  return `{i:${amount} d:(resource.infDecAmount){Dec:(*inf.Dec)${exact}} s:(string)${kept} Format:(resource.Format)${format}}`;
}

function decimalDump({ unscaled, scale }: { readonly unscaled: bigint; readonly scale: number }): string {
  const words: bigint[] = [];
  for (let rest = unscaled < 0n ? -unscaled : unscaled; rest > 0n; rest >>= wordBits) {
    words.push(BigInt.asUintN(Number(wordBits), rest));
  }
  const integer = `(big.Int){neg:(bool)${unscaled < 0n} abs:(big.nat)[${words.join(" ")}]}`;
  return `{unscaled:${integer} scale:(inf.Scale)${scale}}`;
}

function parseQuantity(text: string): GoQuantity {
  if (text === "0") return zero("DecimalSI", "0");
  const parts = partsOf(text);
  const suffix = suffixOf(parts.suffix);
  if (suffix === undefined) throw new RangeError(`${JSON.stringify(text)} is not a quantity`);
  return shortQuantity(text, parts, suffix) ?? exactQuantity(parts, suffix);
}

function zero(format: string, text: string): GoQuantity {
  return { value: 0n, scale: 0, text, format };
}

function partsOf(text: string): Parts {
  const groups = shape.exec(text)?.groups;
  if (groups === undefined) throw new RangeError(`${JSON.stringify(text)} is not a quantity`);
  const { sign, whole = "", fraction = "", suffix = "" } = groups;
  return { isNegative: sign === "-", whole: whole.replace(/^0+/, "") || "0", fraction, suffix };
}

function suffixOf(text: string): Suffix | undefined {
  const decimal = decimalSuffixes.indexOf(text);
  if (decimal >= 0) return { base: 10, exponent: 3 * decimal + nano, format: "DecimalSI" };
  const binary = binarySuffixes.indexOf(text);
  if (binary > 0) return { base: 2, exponent: 10 * binary, format: "BinarySI" };
  const exponent = /^[eE](?<exponent>[+-]?\d+)$/.exec(text)?.groups?.["exponent"];
  return exponent === undefined ? undefined : { base: 10, exponent: Number(exponent), format: "DecimalExponent" };
}

/**
 * Numbers that fit into 64 bits, judged by the number of digits. The conditions are Go's: they decide in which of the two forms a number is
 * kept.
 */
function shortQuantity(text: string, { isNegative, whole, fraction }: Parts, suffix: Suffix): GoQuantity | undefined {
  const { exponent, format } = suffix;
  const digits = `${whole}${fraction}`;
  if (!isShort(whole, fraction, suffix)) return undefined;
  const scale = (suffix.base === 10 ? exponent : 0) - fraction.length;
  const read = BigInt(digits);
  const value = read * (suffix.base === 2 ? 1n << BigInt(exponent) : 1n);
  if (scale < nano || value > maxInt64) return undefined;
  const isCanonical =
    suffix.base === 2 ? read % 8n !== 0n : scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
  return { value: isNegative ? -value : value, scale, text: isCanonical ? text : "", format };
}

function isShort(whole: string, fraction: string, { base, exponent }: Suffix): boolean {
  if (base === 10) return whole.length + fraction.length <= maxDigits;
  return fraction === "" && 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1 >= 0;
}

function exactQuantity({ isNegative, whole, fraction }: Parts, { base, exponent, format }: Suffix): GoQuantity {
  if (Math.abs(exponent) > maxExactExponent)
    throw new RangeError(`the exponent ${exponent} of a quantity is too large`);
  const digits = BigInt(`${whole}${fraction}`) * (base === 2 ? 1n << BigInt(exponent) : 1n);
  const scale = fraction.length - (base === 10 ? exponent : 0);
  const rounded = digits === 0n ? { unscaled: 0n, scale } : { unscaled: inNanos(digits, scale), scale: -nano };
  const isTooMuch = format === "BinarySI" && rounded.unscaled > maxInt64 * 10n ** BigInt(-nano);
  const decimal = isTooMuch ? { unscaled: maxInt64, scale: 0 } : rounded;
  const isBelowOne =
    format === "BinarySI" && decimal.scale !== 0 && digits !== 0n && decimal.unscaled < 10n ** BigInt(-nano);
  return {
    value: 0n,
    scale: 0,
    decimal: { ...decimal, unscaled: isNegative ? -decimal.unscaled : decimal.unscaled },
    text: "",
    format: isBelowOne ? "DecimalSI" : format,
  };
}

/** Rounded up, so that a request is never rounded to zero. */
function inNanos(digits: bigint, scale: number): bigint {
  const places = -nano - scale;
  if (places >= 0) return digits * 10n ** BigInt(places);
  const divisor = 10n ** BigInt(-places);
  return (digits + divisor - 1n) / divisor;
}
