import { orAborted } from "../core/concurrency.ts";
import type { Clock } from "../core/ports/clock.ts";

/** A run's place in its process, held from before it takes its lease until it has ended. */
export interface Place extends Disposable {
  /** Whether no other run begins in the process until this one has ended, for {@link giveWayMs} at most. */
  readonly exclusive: boolean;
}

/** The places for runs in one process: decides which runs may share it. */
export interface RunPlaces {
  /** A place at once, or undefined if the run has to wait for one. */
  tryEnter(exclusive: boolean): Place | undefined;
  /** Throws the signal's reason. */
  enter(exclusive: boolean, signal: AbortSignal): Promise<Place>;
}

/** How long an exclusive run and the others wait for each other, in milliseconds: no object waits longer because of another. */
export const giveWayMs = 60_000;

/**
 * A process dies with all its runs, and nothing shows which run killed it. A run whose last process died is therefore `exclusive`: it
 * never runs beside another such run, and beside other runs only after waiting {@link giveWayMs} for them. If the process dies
 * again, that run has killed it: the other runs that died with it the first time have ended well since.
 */
export function runPlaces(clock: Clock): RunPlaces {
  const checks = new Set<() => void>();
  let sharedRuns = 0;
  /** Runs that are exclusive or wait to be. */
  let exclusiveRuns = 0;
  let isTaken = false;

  const change = (happen: () => void): void => {
    happen();
    for (const check of checks) check();
  };

  /** Waits until `holds` answers true, at most `limitMs` if given. */
  const until = async (holds: () => boolean, signal: AbortSignal, limitMs?: number): Promise<void> => {
    if (holds()) return;
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      if (holds()) resolve();
    };
    checks.add(check);
    try {
      const ends = limitMs === undefined ? promise : Promise.race([promise, clock.sleep(limitMs, over.signal)]);
      await orAborted(ends, signal);
    } finally {
      checks.delete(check);
      over.abort();
    }
  };

  const share = (): Place => {
    sharedRuns += 1;
    return { exclusive: false, [Symbol.dispose]: () => change(() => (sharedRuns -= 1)) };
  };
  const take = (): Place => {
    isTaken = true;
    return {
      exclusive: true,
      [Symbol.dispose]: () =>
        change(() => {
          isTaken = false;
          exclusiveRuns -= 1;
        }),
    };
  };

  return {
    tryEnter(exclusive) {
      if (exclusiveRuns > 0 || (exclusive && sharedRuns > 0)) return undefined;
      if (!exclusive) return share();
      exclusiveRuns += 1;
      return take();
    },
    async enter(exclusive, signal) {
      if (!exclusive) {
        await until(() => exclusiveRuns === 0, signal, giveWayMs);
        return share();
      }
      exclusiveRuns += 1;
      try {
        // If several wait, the first of them to check takes it.
        while (isTaken) await until(() => !isTaken, signal);
      } catch (error) {
        change(() => (exclusiveRuns -= 1));
        throw error;
      }
      const place = take();
      try {
        await until(() => sharedRuns === 0, signal, giveWayMs);
        return place;
      } catch (error) {
        place[Symbol.dispose]();
        throw error;
      }
    },
  };
}
