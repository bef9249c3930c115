import { ChangeMessageVisibilityCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { type Queue, queueAction } from "./queue-action.ts";

/** Twelve hours, the most that SQS takes. */
const maxVisibilitySeconds = 43_200;

/** What SQS says of a message that was removed or handed out again: to hide it is nobody's business any more. */
const goneCodes = new Set(["InvalidParameterValue", "MessageNotInflight", "ReceiptHandleIsInvalid"]);

/**
 * Hides the message that a receipt handle names for another `visibilityMs` from now, rounded up to seconds. Nothing happens
 * where it has been removed or handed out again.
 */
export function sqsVisibility(
  client: SQSClient,
  queue: Queue,
): (receiptHandle: string, visibilityMs: number, signal: AbortSignal) => Promise<void> {
  return async (receiptHandle, visibilityMs, signal) => {
    const command = new ChangeMessageVisibilityCommand({
      QueueUrl: queue.url,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: Math.min(Math.ceil(visibilityMs / 1000), maxVisibilitySeconds),
    });
    const action = queueAction("sqs:ChangeMessageVisibility", queue);
    try {
      await callAws(action, (options) => client.send(command, options), signal);
    } catch (error) {
      if (!(error instanceof AwsFault && goneCodes.has(error.code))) throw error;
    }
  };
}
