import { setImmediate } from "node:timers/promises";

/**
 * Runs `work` on every item, at most `concurrency` at a time, and answers the results in the items' order.
 * The first failure aborts the signal that the other runs were given, and is thrown once all of them have ended.
 */
export async function mapLimit<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, stop: AbortSignal, index: number) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const queue = items.entries();
  let firstError: { error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    // All lanes draw from one iterator, so each item is taken once.
    for (const [index, item] of queue) {
      if (stop.aborted) return;
      try {
        results[index] = await work(item, stop, index);
      } catch (error) {
        firstError ??= { error };
        failed.abort(error);
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, lane));
  if (firstError !== undefined) throw firstError.error;
  signal.throwIfAborted();
  return results;
}

const maxSliceMs = 20;

/**
 * Calls `work` on each item and yields to the event loop every 20 ms, so that a long list does not block other tasks.
 *
 * @param maxMs limit for the time spent in `work`, all slices together
 * @returns false as soon as the limit is exceeded. Throws the signal's reason between two slices.
 */
export async function inTimeSlices<Item>(
  items: Iterable<Item>,
  work: (item: Item) => void,
  maxMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  let usedMs = 0;
  let begun = performance.now();
  for (const item of items) {
    work(item);
    const sliceMs = performance.now() - begun;
    if (usedMs + sliceMs > maxMs) return false;
    if (sliceMs < maxSliceMs) continue;
    usedMs += sliceMs;
    await setImmediate();
    signal.throwIfAborted();
    begun = performance.now();
  }
  return true;
}

/**
 * `Promise.all` that settles every promise before it throws, so that no work of a run continues after the run has ended.
 * Throws the first failure in the order of the list.
 */
export async function allEnded<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }> {
  await Promise.allSettled(work);
  return await Promise.all(work);
}

/**
 * Waits for work that ignores the signal or that other callers share. When the signal is aborted, this caller throws the
 * signal's reason and the work goes on.
 */
export async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  if (signal.aborted) {
    // An unhandled rejection would end the process.
    work.catch(() => undefined);
    throw signal.reason;
  }
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The time of a long loop, in slices. */
export interface TimeSlices {
  /** Whether the loop should pause now. */
  readonly isOver: () => boolean;
  /** Lets other work of the process run. Throws the reason of the signal. */
  readonly pause: () => Promise<void>;
}

/** Lets other work of the process run now and then: to be called often in a long loop. */
export function timeSlices(signal?: AbortSignal): TimeSlices {
  let begun = performance.now();
  return {
    isOver: () => performance.now() - begun > maxSliceMs,
    async pause() {
      await setImmediate();
      signal?.throwIfAborted();
      begun = performance.now();
    },
  };
}
