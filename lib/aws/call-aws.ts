import { orAborted } from "../core/or-aborted.ts";
import { type AwsAction, AwsFault, awsFault } from "./aws-fault.ts";

/** Time for one call with all its tries: no longer than a lease's safety margin, since a holder may be in the middle of one. */
const defaultLimitMs = 15_000;

/**
 * One call to AWS: under the signal, within a time limit, its errors as {@link AwsFault}. Throws the signal's reason where that
 * was aborted.
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
    const message = `${action.name} on ${action.resource}: no answer within ${limitMs / 1000} s, so it may have happened or not`;
    throw new AwsFault("timeout", "", message, { cause: error });
  }
}
