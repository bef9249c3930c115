import { setImmediate } from "node:timers/promises";

const maxTurnMs = 20;

/**
 * Does something with each item and hands the thread back in between, so that many of them do not block other work.
 *
 * @param maxMs of the thread, all turns together
 * @returns whether that was enough: false as soon as it was not. Throws the signal's reason between two turns.
 */
export async function inTurns<Item>(
  items: Iterable<Item>,
  work: (item: Item) => void,
  maxMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  let usedMs = 0;
  let begun = performance.now();
  for (const item of items) {
    work(item);
    const turnMs = performance.now() - begun;
    if (usedMs + turnMs > maxMs) return false;
    if (turnMs < maxTurnMs) continue;
    usedMs += turnMs;
    await setImmediate();
    signal.throwIfAborted();
    begun = performance.now();
  }
  return true;
}
