import { orAborted } from "../core/concurrency.ts";
import { type AwsAction, AwsFault, awsFault } from "./aws-fault.ts";

/** Time for one call with all its tries: no longer than the safety margin of a lease, since its holder may be making a call. */
const defaultLimitMs = 15_000;

/**
 * Makes one call to AWS, under the signal and within a time limit. Throws its errors as {@link AwsFault}, and the signal's reason
 * if that was aborted.
 */
export async function callAws<Result>(
  action: AwsAction,
  send: (options: { readonly abortSignal: AbortSignal }) => Promise<Result>,
  signal: AbortSignal,
  limitMs = defaultLimitMs,
): Promise<Result> {
  signal.throwIfAborted();
  const limit = AbortSignal.timeout(limitMs);
  const abortSignal = AbortSignal.any([signal, limit]);
  try {
    // The SDK's search for credentials does not look at the signal.
    return await orAborted(send({ abortSignal }), abortSignal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AwsFault) throw error;
    if (!limit.aborted) throw awsFault(error, action);
    const message = `${action.name} on ${action.resource}: no answer within ${limitMs / 1000} s, so it may or may not have happened`;
    throw new AwsFault("timeout", "", message, { cause: error });
  }
}
