import { MetricFault } from "./metric-server.ts";

/** A number as Go's `%.2f` writes it. Pure. */
export function fixed2(value: number): string {
  if (!Number.isFinite(value)) return goFloat(value);
  const absolute = Math.abs(value);
  if (absolute >= 1e21) return `${BigInt(value)}.00`;
  // Only an odd number of eighths is in the middle: Go takes the even neighbour then, toFixed the upper one.
  if ((absolute * 8) % 2 !== 1) return value.toFixed(2);
  const floor = Math.floor(absolute * 100);
  const digits = String(floor + (floor % 2)).padStart(3, "0");
  return `${value < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** A number as Go's `%v` writes it: `99.5`, `1e+06`, `1e-05`, `+Inf`. Pure. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  const digits = String(Math.abs(exponent)).padStart(2, "0");
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${digits}`;
}

/** Reads a number as Go's `strconv.ParseFloat` does. Throws a {@link MetricFault} in its words. */
export function parseGoFloat(text: string): number {
  const quoted = JSON.stringify(text);
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) {
    const value = Number(text);
    if (Number.isFinite(value)) return value;
    throw new MetricFault(`strconv.ParseFloat: parsing ${quoted}: value out of range`);
  }
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  throw new MetricFault(`strconv.ParseFloat: parsing ${quoted}: invalid syntax`);
}
