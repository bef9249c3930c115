import type { Clock } from "../../../lib/core/ports/clock.ts";

export interface SkippingClock extends Clock {
  advance(ms: number): void;
}

/** The system's clock, but that nobody has to wait: what is slept is only skipped. */
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
