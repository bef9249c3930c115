import { z } from "zod";
import { mapLimit } from "../lib/core/concurrency.ts";

/** Messages of one invocation: the most that SQS gives with the largest batch that it can be set to. */
export const maxBatch = 10_000;

/** The messages of one invocation, as SQS gives them. */
const SqsEvent = z.object({
  Records: z.array(z.object({ messageId: z.string(), receiptHandle: z.string(), body: z.string() })).max(maxBatch),
});
export type SqsRecord = z.infer<typeof SqsEvent>["Records"][number];

/** SQS's partial batch response: these messages come again, the others are done. */
export interface BatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

const concurrency = 10;

/** Hands over each message of an invocation. Throws a `ZodError` for an event of any other shape. */
export async function handleBatch(
  event: unknown,
  isHandled: (record: SqsRecord) => Promise<boolean>,
): Promise<BatchResponse> {
  const { Records } = SqsEvent.parse(event);
  const never = new AbortController();
  const failed = await mapLimit(
    Records,
    concurrency,
    async (record) => ((await isHandled(record)) ? [] : [{ itemIdentifier: record.messageId }]),
    // Each message ends by itself, so that one that is stopped still says so.
    never.signal,
  );
  return { batchItemFailures: failed.flat() };
}
