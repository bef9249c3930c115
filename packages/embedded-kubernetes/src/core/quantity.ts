import { ConversionError } from "./conversion-error.ts";

/** A `resource.Quantity`: exact, in units of 10^-9 (the finest a cluster keeps), with the notation it came in. */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: "DecimalSI" | "BinarySI" | "DecimalExponent";
}

const nanosPerUnit = 10n ** 9n;
const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** @throws {ConversionError} with Go's text if `text` is no quantity */
export function parseQuantity(text: string | number | bigint): Quantity {
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*)([-+]?[0-9]*)$/.exec(String(text).trim());
  const [, sign = "", whole = "", fraction = "", letters = "", digits = ""] = match ?? [];
  if (match === null || match[0] === "") {
    throw new ConversionError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  if (whole + fraction === "") throw new ConversionError("unable to parse numeric part of quantity");
  const scale = scaleOf(letters, digits);
  if (scale === undefined) throw new ConversionError("unable to parse quantity's suffix");
  const magnitude = roundUp(
    BigInt(whole + fraction) * scale.times * nanosPerUnit,
    10n ** BigInt(fraction.length) * scale.over,
  );
  return { nanos: sign === "-" ? -magnitude : magnitude, format: scale.format };
}

/** The one notation an API server stores for this value: `1000m` is `1`, `1024Mi` is `1Gi`, 0.5 is `500m`. */
function formatQuantity({ nanos, format }: Quantity): string {
  const magnitude = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? "-" : "";
  if (format === "BinarySI" && magnitude >= 1024n * nanosPerUnit) {
    const [mantissa, power] = withoutFactor(roundUp(magnitude, nanosPerUnit), 1024n, binarySuffixes.length - 1);
    return `${sign}${mantissa}${binarySuffixes[power] ?? ""}`;
  }
  if (magnitude === 0n) return "0";
  const [mantissa, power] = withoutFactor(magnitude, 1000n, decimalSuffixes.length - 1);
  if (format !== "DecimalExponent") return `${sign}${mantissa}${decimalSuffixes[power] ?? ""}`;
  const exponent = power * 3 - 9;
  return `${sign}${mantissa}${exponent === 0 ? "" : `e${exponent}`}`;
}

/**
 * The text that comes back from the store. Read twice, as a store does: bytes that no binary unit divides lose their
 * suffix, and without one they are decimal (`1937.5Ki` is `1984000`, which reads as `1984k`).
 */
export function canonicalQuantity(text: string | number | bigint): string {
  return formatQuantity(parseQuantity(formatQuantity(parseQuantity(text))));
}

interface Scale {
  readonly times: bigint;
  readonly over: bigint;
  readonly format: Quantity["format"];
}

function scaleOf(letters: string, digits: string): Scale | undefined {
  if (digits !== "") {
    const exponent = Number.parseInt(digits, 10);
    if (!/^[eE]$/.test(letters) || Math.abs(exponent) > 100) return undefined;
    return exponent < 0
      ? { times: 1n, over: 10n ** BigInt(-exponent), format: "DecimalExponent" }
      : { times: 10n ** BigInt(exponent), over: 1n, format: "DecimalExponent" };
  }
  const binary = binarySuffixes.indexOf(letters);
  if (binary > 0) return { times: 1024n ** BigInt(binary), over: 1n, format: "BinarySI" };
  const decimal = decimalSuffixes.indexOf(letters);
  if (decimal < 0) return undefined;
  return decimal < 3
    ? { times: 1n, over: 1000n ** BigInt(3 - decimal), format: "DecimalSI" }
    : { times: 1000n ** BigInt(decimal - 3), over: 1n, format: "DecimalSI" };
}

function roundUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

function withoutFactor(value: bigint, factor: bigint, maxPower: number): readonly [bigint, number] {
  let rest = value;
  let power = 0;
  while (power < maxPower && rest % factor === 0n) {
    rest /= factor;
    power += 1;
  }
  return [rest, power];
}
