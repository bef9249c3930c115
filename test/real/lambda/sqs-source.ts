import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { z } from "zod";
import type { InvocationResult } from "./runtime-api.ts";

/** With ReportBatchItemFailures: these come again. An empty answer means that all are done. */
const BatchResponse = z
  .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]) })
  .nullable();

export interface SqsSource {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly region: string;
  readonly batchSize: number;
  /** AWS wants it to be six times the function's time limit. */
  readonly visibilitySeconds: number;
}

/** A batch of messages as a function gets it: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html */
export interface SqsEvent {
  readonly Records: readonly object[];
}

/**
 * Feeds a queue to a function as Lambda's event source mapping does, until the signal is aborted: a message is deleted once it
 * was handled, and becomes visible again if it was reported as failed, or if the whole invocation failed.
 */
export async function feedFromSqs(
  source: SqsSource,
  invoke: (event: SqsEvent) => Promise<InvocationResult>,
  signal: AbortSignal,
): Promise<void> {
  const { client, queueUrl, batchSize, visibilitySeconds } = source;
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      VisibilityTimeout: visibilitySeconds,
      WaitTimeSeconds: 1,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    let messages: readonly Message[];
    try {
      messages = (await client.send(command, { abortSignal: signal })).Messages ?? [];
    } catch (error) {
      if (isOver()) return;
      throw error;
    }
    if (messages.length === 0) continue;
    const result = await invoke({ Records: messages.map((message) => recordOf(message, source)) });
    const done = handled(messages, result);
    if (done.length === 0) continue;
    const Entries = done.map(({ MessageId: Id, ReceiptHandle }) => ({ Id, ReceiptHandle }));
    await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
  }
}

/** Hands one event over in a message of its own, as a queue does that EventBridge fills; `failed` if the message would come again. */
export async function inMessage(
  event: unknown,
  invoke: (event: SqsEvent) => Promise<InvocationResult>,
): Promise<InvocationResult> {
  const message = { MessageId: "hint", ReceiptHandle: "hint", Body: JSON.stringify(event) };
  const record = { messageId: "hint", receiptHandle: "hint", body: message.Body };
  const result = await invoke({ Records: [record] });
  if (result.kind !== "returned" || handled([message], result).length === 1) return result;
  return { kind: "failed", error: "the message was reported as failed" };
}

/** The messages that may be deleted. A name that was not in the batch, like an answer of another shape, fails all of it. */
function handled(messages: readonly Message[], result: InvocationResult): readonly Message[] {
  if (result.kind !== "returned") return [];
  const { success, data } = BatchResponse.safeParse(result.payload);
  if (!success) return [];
  const failed = new Set(data?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const known = new Set(messages.map(({ MessageId }) => MessageId));
  if ([...failed].some((id) => !known.has(id))) return [];
  return messages.filter(({ MessageId = "" }) => !failed.has(MessageId));
}

function recordOf(message: Message, { queueArn, region }: SqsSource): object {
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: message.Attributes ?? {},
    messageAttributes: message.MessageAttributes ?? {},
    md5OfBody: message.MD5OfBody,
    eventSource: "aws:sqs",
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}
