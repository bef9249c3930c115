import type { Clock } from "../../../lib/core/ports/clock.ts";

export interface SkippingClock extends Clock {
  advance(ms: number): void;
}

/** The system's clock without waiting: a sleep returns at once and moves the clock. */
export function skippingClock(): SkippingClock {
  let skippedMs = 0;
  return {
    now: () => Date.now() + skippedMs,
    monotonic: () => performance.now() + skippedMs,
    sleep: (ms) => {
      skippedMs += ms;
      return new Promise<void>((resolve) => setImmediate(resolve));
    },
    advance: (ms) => {
      skippedMs += ms;
    },
  };
}
