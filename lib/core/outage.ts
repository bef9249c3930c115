import { messageOf, type Reason } from "./failure.ts";
import { ApiError } from "./ports/cluster.ts";
import { LeaseLost } from "./ports/fence.ts";

/**
 * Something that a run needs does not answer, through no fault of its object: the run is tried again for as long as it takes
 * and never counts as one that did not end. Reason and message are what the object says where it lasts.
 */
export class Outage extends Error {
  override readonly name: string = "Outage";
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** What a request of ours that the API server calls malformed is answered with: no wait mends that. */
const ours = new Set([400, 405, 406, 413, 415, 422]);

/** Whether an error says nothing of the object: the cluster or a store does not answer, throttles or forbids for a while. */
export function isOutage(error: unknown): error is ApiError | Outage {
  return error instanceof Outage || (error instanceof ApiError && !ours.has(error.code));
}

/** What a read of the cluster threw; where it is an outage, with a reason of its own. */
export function outageOf(error: unknown, reason: Reason, what: string): unknown {
  return isOutage(error) ? new Outage(reason, `${what}: ${messageOf(error)}`, { cause: error }) : error;
}

/**
 * For what a store throws: an {@link Outage}, or the reason of the signal where that ended the call. A mistake in a program is
 * none: no wait mends that. Nor is a lost lease: a successor is at work.
 */
export function storeOutage(reason: Reason, what: string, signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    signal.throwIfAborted();
    if (error instanceof TypeError || error instanceof RangeError || error instanceof LeaseLost) throw error;
    throw new Outage(reason, `${what}: ${messageOf(error)}`, { cause: error });
  };
}
