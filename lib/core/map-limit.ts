/**
 * Runs `work` on every item, at most `concurrency` at a time, and answers the results in the items' order.
 * The first failure aborts the signal that the other runs were given and is thrown once all of them have ended.
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
