import type { Message } from "./state/message-queue.ts";

/** What SQS hands to a function, as far as ours read it. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: { readonly ApproximateReceiveCount: string };
  readonly eventSource: "aws:sqs";
}

/** A message as SQS would deliver it. Its receipt handle says which of its deliveries this one is. */
export function sqsEvent(messages: readonly Message[]): SqsEvent {
  return {
    Records: messages.map(({ id, body, receives }) => ({
      messageId: id,
      receiptHandle: `${id}.${receives}`,
      body,
      attributes: { ApproximateReceiveCount: String(receives) },
      eventSource: "aws:sqs",
    })),
  };
}

/** The delivery that a receipt handle names. Throws a `RangeError` for anything else. */
export function parseReceiptHandle(handle: string): Pick<Message, "id" | "receives"> {
  const [, id = "", receives = ""] = /^([0-9]+)\.([0-9]+)$/.exec(handle) ?? [];
  if (id === "") throw new RangeError(`"${handle}" is no receipt handle of ours`);
  return { id, receives: Number(receives) };
}
