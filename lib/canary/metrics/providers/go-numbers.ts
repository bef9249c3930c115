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

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a duration that Go's `time.ParseDuration` reads. Throws a {@link MetricFault} in its words. */
export function parseGoDuration(text: string): number {
  const invalid = new MetricFault(`time: invalid duration ${JSON.stringify(text)}`);
  const [, sign = "", amounts = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (amounts === "0") return 0;
  if (amounts === "") throw invalid;
  let ms = 0;
  for (let rest = amounts; rest !== ""; ) {
    const [all = "", number = "", unit = ""] = /^(\d+\.?\d*|\.\d+)([^.\d]*)/s.exec(rest) ?? [];
    if (all === "") throw invalid;
    if (unit === "") throw new MetricFault(`time: missing unit in duration ${JSON.stringify(text)}`);
    const each = Object.hasOwn(unitMs, unit) ? unitMs[unit] : undefined;
    if (each === undefined) {
      throw new MetricFault(`time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`);
    }
    ms += Number(number) * each;
    rest = rest.slice(all.length);
  }
  if (ms * 1e6 >= 2 ** 63) throw invalid;
  return sign === "-" ? -ms : ms;
}
