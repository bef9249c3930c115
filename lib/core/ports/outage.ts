import { messageOf, type Reason } from "../failure.ts";
import { ApiError } from "./cluster.ts";
import { LeaseLost } from "./fence.ts";

/**
 * A dependency of a run (a cluster, a store, a registry) does not answer, and the object is not to blame. The run is repeated
 * without limit and does not count as a failed attempt. If the outage lasts, the object's status shows reason and message.
 */
export class Outage extends Error {
  override readonly name: string = "Outage";
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Statuses that blame the request. Repeating it does not help. */
const badRequestCodes = new Set([400, 405, 406, 413, 415, 422]);

/** Whether an error is not about the object: the cluster or a store does not answer, throttles, or forbids for a while. */
export function isOutage(error: unknown): error is ApiError | Outage {
  return error instanceof Outage || (error instanceof ApiError && !badRequestCodes.has(error.code));
}

/** Turns an error of a cluster read into an {@link Outage} with this reason, if it is one; answers any other error unchanged. */
export function outageOf(error: unknown, reason: Reason, what: string): unknown {
  return isOutage(error) ? new Outage(reason, `${what}: ${messageOf(error)}`, { cause: error }) : error;
}

/**
 * A handler for errors of a store. Throws the signal's reason if that is aborted. Rethrows a programming error, which waiting
 * does not fix, and a lost lease, since a successor works on the object. Throws any other error as an {@link Outage}.
 */
export function storeOutage(reason: Reason, what: string, signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    signal.throwIfAborted();
    if (error instanceof TypeError || error instanceof RangeError || error instanceof LeaseLost) throw error;
    throw new Outage(reason, `${what}: ${messageOf(error)}`, { cause: error });
  };
}
