import { setTimeout } from "node:timers/promises";
import type { Clock } from "./ports/clock.ts";

/** The machine's own clocks, for every entry point. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await setTimeout(ms, undefined, { signal });
    } catch (error) {
      // The timer's own error says no more than that it was stopped; the caller knows why.
      signal.throwIfAborted();
      throw error;
    }
  },
};
