import type { Clock } from "../../../lib/core/ports/clock.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";

/** As long as the timeout of every scenario in which one runs out: Flux has none shorter. */
const timeoutMs = 30_000;

/**
 * The machine's clocks, of which the wall clock steps forward by a timeout as soon as every scenario that is being played waits for
 * that: so no other one times out early.
 */
export interface PassingTime {
  readonly clock: Clock;
  /** A scenario begins, and has to call {@link leave} at its end. */
  enter(): void;
  leave(): void;
  /** Resolves once the time has passed. */
  pass(): Promise<void>;
}

export function passingTime(): PassingTime {
  let passedMs = 0;
  let playing = 0;
  let waiting: (() => void)[] = [];
  const passIfAllWait = () => {
    if (waiting.length === 0 || waiting.length < playing) return;
    passedMs += timeoutMs;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    clock: { ...systemClock, now: () => systemClock.now() + passedMs },
    enter() {
      playing++;
    },
    leave() {
      playing--;
      passIfAllWait();
    },
    pass() {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      passIfAllWait();
      return promise;
    },
  };
}
