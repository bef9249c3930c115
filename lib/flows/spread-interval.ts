/** Flux's `--interval-jitter-percentage`: how far from its interval a run may be, either way. */
const jitterShare = 0.05;

/** The interval of one run in milliseconds, spread so that many objects of one interval do not run at once. `random`: 0 to 1. */
export function spreadInterval(intervalMs: number, random: number): number {
  return Math.round(intervalMs * (1 - jitterShare + 2 * jitterShare * random));
}
