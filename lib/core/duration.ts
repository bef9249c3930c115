import { cutText } from "./cut-text.ts";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The pattern Flux's CRDs put on `interval`, `retryInterval` and the Kustomization's `timeout`. */
export const durationPattern = "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$";

/** The longest duration that Go can hold: 2^63 nanoseconds, about 292 years. Flux cannot read an object with a longer one. */
export const maxDurationMs = 2 ** 63 / 1e6;

/** {@link maxDurationMs} as Go writes it. */
export const maxDurationText = "2562047h47m16s";

/** The longest timeout of a timer in Node, about 24 days; a longer one fires at once. */
export const maxTimerMs = 2 ** 31 - 1;

const maxQuotedBytes = 64;
const isDuration = new RegExp(durationPattern);

/**
 * Milliseconds of a Go duration such as `1h30m` or `1.5s`. Throws a `RangeError` for a text that {@link durationPattern} does
 * not match, and for a duration of {@link maxDurationMs} or more.
 */
export function parseDuration(text: string): number {
  if (!isDuration.test(text)) {
    throw new RangeError(`"${cutText(text, maxQuotedBytes)}" is not a duration: write it like 30s, 10m or 1h30m`);
  }
  const ms = sumMs(text);
  if (ms >= maxDurationMs) {
    throw new RangeError(`"${cutText(text, maxQuotedBytes)}" is longer than ${maxDurationText}, the longest duration`);
  }
  return ms;
}

/** Whether a duration is below {@link maxDurationMs}; true for a text that is not a duration. */
export function isDurationHeld(text: string): boolean {
  return sumMs(text) < maxDurationMs;
}

function sumMs(text: string): number {
  let totalMs = 0;
  for (const [, amount = "0", unit = "s"] of text.matchAll(/([0-9.]+)(ms|s|m|h)/g)) {
    totalMs += Number(amount) * (unitMs[unit] ?? 0);
  }
  return totalMs;
}

/** Milliseconds the way Go prints a `time.Duration`: `30s`, `1m0s`, `1h0m0s`, `1.5s`, `176.163666ms`, `12.5µs`, `0s`. */
export function formatDuration(ms: number): string {
  const nanos = Math.round(Math.abs(ms) * 1e6);
  const sign = ms < 0 && nanos > 0 ? "-" : "";
  if (nanos === 0) return "0s";
  if (nanos < 1e3) return `${sign}${nanos}ns`;
  if (nanos < 1e6) return `${sign}${fraction(nanos, 3)}µs`;
  if (nanos < 1e9) return `${sign}${fraction(nanos, 6)}ms`;
  const seconds = Math.floor(nanos / 1e9);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${fraction((seconds % 60) * 1e9 + (nanos % 1e9), 9)}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${sign}${minutes}m${rest}` : `${sign}${rest}`;
}

/** An integer divided by ten to the power of `places`, without zeros at the end. */
function fraction(value: number, places: number): string {
  const digits = String(value).padStart(places + 1, "0");
  const decimals = digits.slice(-places).replace(/0+$/, "");
  const whole = digits.slice(0, -places);
  return decimals === "" ? whole : `${whole}.${decimals}`;
}
