import { orAborted } from "../lib/core/concurrency.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";

/**
 * What `ask` answers, or an {@link ApiError} `Unreachable` if that takes longer than `withinMs`. Gives up on an answer that does not
 * come, also where its maker does not look at the signal.
 */
export async function answerWithin<Result>(
  withinMs: number,
  ask: (signal: AbortSignal) => Promise<Result>,
  { clock }: { readonly clock: Clock },
  signal: AbortSignal,
): Promise<Result> {
  const over = new AbortController();
  const late = new AbortController();
  const message = `the cluster gave no answer within ${withinMs / 1000} s`;
  const why = new ApiError({ code: 0, reason: "Unreachable", message });
  clock.sleep(withinMs, over.signal).then(
    () => late.abort(why),
    () => undefined,
  );
  const stop = AbortSignal.any([signal, late.signal]);
  try {
    return await orAborted(ask(stop), stop);
  } finally {
    over.abort(why);
  }
}
