import type { Clock } from "../../core/ports/clock.ts";
import { AwsFault } from "../aws-fault.ts";

/** With the waits below about three seconds in all. The calls in between have their own limits. */
const maxTries = 8;
const firstWaitMs = 25;
const maxWaitMs = 1_000;

/** Tries of one operation beyond those of the SDK: for rows that were left over, and for conflicts with other transactions. */
export interface RetryBudget {
  /** Waits before another try, with full jitter; false if there were enough. */
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

/** The tries of a {@link retryBudget} are used up: too much load on the table, or on one item of it. */
export function gaveUp(table: string, action: string, why: string, cause?: unknown): AwsFault {
  const message = `dynamodb:${action} on table ${table}: ${why}, even after several tries; it may work later`;
  return new AwsFault("throttled", "", message, cause === undefined ? {} : { cause });
}
