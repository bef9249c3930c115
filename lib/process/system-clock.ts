import { setTimeout } from "node:timers/promises";
import type { Clock } from "../core/ports/clock.ts";

/** The machine's own clocks, for every entry point. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await setTimeout(ms, undefined, { signal });
    } catch (error) {
      // The timer's error says only that it was aborted. The signal's reason says why.
      signal.throwIfAborted();
      throw error;
    }
  },
};
