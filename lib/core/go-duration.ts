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

/** Milliseconds of a duration that Go's `time.ParseDuration` reads. Throws a `RangeError` in its words. Pure. */
export function parseGoDuration(text: string): number {
  const invalid = () => new RangeError(`time: invalid duration ${JSON.stringify(text)}`);
  const [, sign = "", amounts = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (amounts === "0") return 0;
  if (amounts === "") throw invalid();
  let ms = 0;
  for (let rest = amounts; rest !== ""; ) {
    const [all = "", number = "", unit = ""] = /^(\d+\.?\d*|\.\d+)([^.\d]*)/s.exec(rest) ?? [];
    if (all === "") throw invalid();
    if (unit === "") throw new RangeError(`time: missing unit in duration ${JSON.stringify(text)}`);
    const each = Object.hasOwn(unitMs, unit) ? unitMs[unit] : undefined;
    if (each === undefined) {
      throw new RangeError(`time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`);
    }
    ms += Number(number) * each;
    rest = rest.slice(all.length);
  }
  if (ms * 1e6 >= 2 ** 63) throw invalid();
  return sign === "-" ? -ms : ms;
}
