import { orAborted } from "./or-aborted.ts";

/**
 * Lets at most `places` callers work at the same time, the others in the order in which they came. A caller holds its turn
 * until it disposes of it, and gives up waiting when its signal is aborted, with the signal's reason.
 */
export function turns(places: number): (signal: AbortSignal) => Promise<Disposable> {
  let free = places;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };
  return async (signal) => {
    signal.throwIfAborted();
    if (free > 0) free--;
    else {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      try {
        await orAborted(promise, signal);
      } catch (error) {
        const index = waiting.indexOf(resolve);
        // The turn may have come in the same moment: then it is passed on.
        if (index === -1) release();
        else waiting.splice(index, 1);
        throw error;
      }
    }
    return { [Symbol.dispose]: release };
  };
}
