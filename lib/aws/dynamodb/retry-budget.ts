import type { Clock } from "../../core/ports/clock.ts";

/** With the waits below about three seconds in all; the calls between have limits of their own. */
const maxTries = 8;
const firstWaitMs = 25;
const maxWaitMs = 1_000;

/** Tries of one operation beyond those of the SDK: what was left over, or met another transaction on its way. */
export interface RetryBudget {
  /** Waits before another try, with full jitter; false where there have been enough. */
  again(signal: AbortSignal): Promise<boolean>;
}

export function retryBudget(clock: Clock): RetryBudget {
  let tries = 1;
  return {
    async again(signal) {
      if (tries >= maxTries) return false;
      const waitMs = Math.random() * Math.min(maxWaitMs, firstWaitMs * 2 ** tries);
      tries += 1;
      await clock.sleep(waitMs, signal);
      return true;
    },
  };
}
