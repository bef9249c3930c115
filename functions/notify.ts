import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Deliver } from "../lib/notify/deliver.ts";
import type { Notification } from "../lib/notify/notification.ts";
import { NotificationMessage } from "../lib/notify/notification-message.ts";
import { type SharedReads, sharedReads } from "../lib/notify/shared-reads.ts";
import { type FifoOutcome, type FifoRecord, handleFifoBatch } from "./fifo-batch.ts";
import type { BatchResponse } from "./sqs-batch.ts";

export interface NotifyDeps {
  /** A message that the Provider refuses is done, too. If the call throws, the message is tried again. */
  readonly deliver: Deliver;
  /** Hides the message that this receipt handle names for another `visibilityMs` from now. */
  readonly hide: (receiptHandle: string, visibilityMs: number, signal: AbortSignal) => Promise<void>;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Log;
}

/** No delivery begins later in an invocation: one that Lambda breaks off would be made twice. */
export const beginWithinMs = 150_000;
/** Before a message is tried again: doubled each time. */
const firstRetryMs = 30_000;
const maxRetryMs = 900_000;

/** How long a message waits that was received so often, and not delivered. */
export function retryAfterMs(receives: number): number {
  return Math.min(firstRetryMs * 2 ** (receives - 1), maxRetryMs);
}

/** Takes messages of the FIFO queue of notifications. */
export function notifyHandler(deps: NotifyDeps): (event: unknown, signal: AbortSignal) => Promise<BatchResponse> {
  return (event, signal) => {
    const begun = deps.clock.monotonic();
    const reads = sharedReads(deps.clock);
    return handleFifoBatch(
      event,
      async (record) => {
        if (signal.aborted || deps.clock.monotonic() - begun > beginWithinMs) return { again: true };
        return handle(record, reads, deps, signal);
      },
      (record, visibilityMs) => hide(record, visibilityMs, deps, signal),
    );
  };
}

async function handle(
  record: FifoRecord,
  reads: SharedReads,
  deps: NotifyDeps,
  signal: AbortSignal,
): Promise<FifoOutcome> {
  const { messageId, body, attributes } = record;
  const message = readMessage(body);
  if ("fault" in message) {
    deps.log.error("notification not handled", { messageId, error: message.fault });
    // It would never be understood: it becomes a dead letter soon, and the others of its group go on.
    return { again: true, afterMs: 0 };
  }
  try {
    await deps.deliver(message, signal, reads);
    return "done";
  } catch (error) {
    const { cluster, alert } = message;
    deps.log.error("notification not handled", { messageId, cluster, ...alert, error: messageOf(error) });
    return { again: true, afterMs: retryAfterMs(attributes.ApproximateReceiveCount) };
  }
}

function readMessage(body: string): Notification | { readonly fault: string } {
  try {
    return NotificationMessage.parse(JSON.parse(body));
  } catch (error) {
    return { fault: error instanceof SyntaxError ? "the message is not JSON" : messageOf(error) };
  }
}

/** Without it the message comes again later, when the queue shows it by itself. */
async function hide(
  { messageId, receiptHandle }: FifoRecord,
  visibilityMs: number,
  { hide: hideMessage, log }: NotifyDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    await hideMessage(receiptHandle, visibilityMs, signal);
  } catch (error) {
    log.warn("notification not set aside", { messageId, error: messageOf(error) });
  }
}
