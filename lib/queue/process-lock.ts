import { orAborted } from "../core/or-aborted.ts";
import type { Clock } from "../core/ports/clock.ts";

/** A run's place in its process, held from before it takes its lease until it has ended. */
export interface Place extends Disposable {
  readonly alone: boolean;
}

/** One of each process: says which runs may share it. */
export interface ProcessLock {
  /** A place at once, or undefined where one has to be waited for. */
  tryEnter(alone: boolean): Place | undefined;
  /** Throws the signal's reason. */
  enter(alone: boolean, signal: AbortSignal): Promise<Place>;
}

/** How long a run alone and the others give way to each other, so that no object waits longer for the trouble of another. */
export const giveWayMs = 60_000;

/**
 * A process dies with all that runs in it, and what is left does not tell which run it was. A run whose last process died
 * is therefore `alone`: never beside another such run, and beside others only where one of them has gone on for longer than
 * {@link giveWayMs}. A further death is then its own, and the runs that died with it have ended well.
 */
export function processLock(clock: Clock): ProcessLock {
  const looks = new Set<() => void>();
  let shared = 0;
  /** Runs that are alone, or wait to be. */
  let lonely = 0;
  let isTaken = false;

  const change = (happen: () => void): void => {
    happen();
    for (const look of looks) look();
  };

  /** Until something holds, at most for so long; for as long as it takes where no time is given. */
  const until = async (holds: () => boolean, signal: AbortSignal, limitMs?: number): Promise<void> => {
    if (holds()) return;
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (holds()) resolve();
    };
    looks.add(look);
    try {
      const ends = limitMs === undefined ? promise : Promise.race([promise, clock.sleep(limitMs, over.signal)]);
      await orAborted(ends, signal);
    } finally {
      looks.delete(look);
      over.abort();
    }
  };

  const share = (): Place => {
    shared += 1;
    return { alone: false, [Symbol.dispose]: () => change(() => (shared -= 1)) };
  };
  const take = (): Place => {
    isTaken = true;
    return {
      alone: true,
      [Symbol.dispose]: () =>
        change(() => {
          isTaken = false;
          lonely -= 1;
        }),
    };
  };

  return {
    tryEnter(alone) {
      if (lonely > 0 || (alone && shared > 0)) return undefined;
      if (!alone) return share();
      lonely += 1;
      return take();
    },
    async enter(alone, signal) {
      if (!alone) {
        await until(() => lonely === 0, signal, giveWayMs);
        return share();
      }
      lonely += 1;
      try {
        // Of several that wait, one finds it free.
        while (isTaken) await until(() => !isTaken, signal);
      } catch (error) {
        change(() => (lonely -= 1));
        throw error;
      }
      const place = take();
      try {
        await until(() => shared === 0, signal, giveWayMs);
        return place;
      } catch (error) {
        place[Symbol.dispose]();
        throw error;
      }
    },
  };
}
