import type { Clock } from "../../lib/core/ports/clock.ts";

/** A clock that stands still until a test moves it. Sleeping on it throws. */
export interface SteppedClock extends Clock {
  /** Lets so many milliseconds pass, by both clocks. */
  pass(ms: number): void;
  /** Freezes the process for so long: only the wall clock goes on. */
  freeze(ms: number): void;
}

export function steppedClock(): SteppedClock {
  let wall = Date.UTC(2026, 10, 22, 12);
  let monotonic = 1_000;
  return {
    now: () => wall,
    monotonic: () => monotonic,
    sleep: async () => {
      throw new Error("the test did not expect a wait");
    },
    pass: (ms) => {
      wall += ms;
      monotonic += ms;
    },
    freeze: (ms) => {
      wall += ms;
    },
  };
}
