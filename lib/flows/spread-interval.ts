import { minIntervalMs } from "../api/fields.ts";

/** Flux's `--interval-jitter-percentage`: how far from its interval a run may be, either way. */
const jitterShare = 0.05;

/**
 * The interval of one run in milliseconds, spread so that many objects of one interval do not run at once, and at least
 * {@link minIntervalMs}; undefined for 0, which is no periodic run (reference 1.2). `random`: 0 to 1.
 */
export function spreadInterval(intervalMs: number, random: number): number | undefined {
  if (intervalMs === 0) return undefined;
  return Math.max(minIntervalMs, Math.round(intervalMs * (1 - jitterShare + 2 * jitterShare * random)));
}
