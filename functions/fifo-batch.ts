import { z } from "zod";
import { mapLimit } from "../lib/core/concurrency.ts";
import type { BatchResponse } from "./sqs-batch.ts";

/** The most that Lambda takes of a FIFO queue at once. */
const maxFifoBatch = 10;

/** The messages of one invocation, as SQS gives them from a FIFO queue. */
const FifoEvent = z.object({
  Records: z
    .array(
      z.object({
        messageId: z.string(),
        receiptHandle: z.string(),
        body: z.string(),
        attributes: z.object({ MessageGroupId: z.string(), ApproximateReceiveCount: z.coerce.number().int() }),
      }),
    )
    .max(maxFifoBatch),
});
export type FifoRecord = z.infer<typeof FifoEvent>["Records"][number];

/** What became of a message. `again`: it comes again, in `afterMs`, or when the queue's own time is over. */
export type FifoOutcome = "done" | { readonly again: true; readonly afterMs?: number };

/**
 * Hands over the messages of an invocation, those of a group one after the other. Behind one that comes again, all later ones of its
 * group do too, at the same time, so that they stay in order; `hide` makes them wait. Throws a `ZodError` for an event of any other shape.
 */
export async function handleFifoBatch(
  event: unknown,
  handle: (record: FifoRecord) => Promise<FifoOutcome>,
  hide: (record: FifoRecord, visibilityMs: number) => Promise<void>,
): Promise<BatchResponse> {
  const { Records } = FifoEvent.parse(event);
  const groups = Map.groupBy(Records, ({ attributes }) => attributes.MessageGroupId);
  const never = new AbortController();
  const failed = await mapLimit(
    [...groups.values()],
    maxFifoBatch,
    async (records) => {
      for (const [index, record] of records.entries()) {
        const outcome = await handle(record);
        if (outcome === "done") continue;
        const waiting = records.slice(index);
        const { afterMs } = outcome;
        if (afterMs !== undefined) await Promise.all(waiting.map((one) => hide(one, afterMs)));
        return waiting;
      }
      return [];
    },
    // Each group ends by itself, so that one that is stopped still says so.
    never.signal,
  );
  return { batchItemFailures: failed.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) };
}
