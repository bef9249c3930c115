import type { Clock } from "../../../lib/core/ports/clock.ts";

export interface SkippingClock extends Clock {
  advance(ms: number): void;
}

/**
 * A clock that begins at the present time and moves by sleeps alone, which return at once: how long the machine takes for a step does
 * not count.
 */
export function skippingClock(): SkippingClock {
  const beginMs = Date.now();
  let skippedMs = 0;
  return {
    now: () => beginMs + skippedMs,
    monotonic: () => skippedMs,
    sleep: (ms) => {
      skippedMs += ms;
      return new Promise<void>((resolve) => setImmediate(resolve));
    },
    advance: (ms) => {
      skippedMs += ms;
    },
  };
}
