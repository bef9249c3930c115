import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { DeadLetterQueue, StoredLetter } from "../core/ports/dead-letter-queue.ts";
import { callAws } from "./call-aws.ts";
import { type Queue, queueAction } from "./sqs.ts";

/** Longer than ten messages take to be sent and deleted. If its command is killed, the message is visible again after that time. */
const visibilitySeconds = 60;
/** With a wait SQS asks all of its servers, so that an empty answer means an empty queue. */
const waitSeconds = 2;

/**
 * A dead-letter queue: each message is received, sent to another queue and deleted, one by one. SQS's own move (`StartMessageMoveTask`) is
 * not used: it refuses the queue of EventBridge, which is the dead-letter queue of no queue, and it moves all messages or none, so that no
 * user can look at them first.
 */
export function sqsDeadLetterQueue(client: SQSClient, queue: Queue): DeadLetterQueue {
  const call = <Answer>(
    name: string,
    of: Queue,
    send: (options: { readonly abortSignal: AbortSignal }) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> => callAws(queueAction(`sqs:${name}`, of), send, signal);
  return {
    async receive(signal) {
      const command = new ReceiveMessageCommand({
        QueueUrl: queue.url,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: visibilitySeconds,
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ["SentTimestamp", "MessageGroupId", "DeadLetterQueueSourceArn"],
        MessageAttributeNames: ["All"],
      });
      const { Messages = [] } = await call("ReceiveMessage", queue, (options) => client.send(command, options), signal);
      return Messages.map((message) => letterOf(message, queue));
    },
    async send({ body, group, id: letterId }, url, signal) {
      const to = { url, region: queue.region };
      const command = new SendMessageCommand({
        QueueUrl: url,
        MessageBody: body,
        ...(group === undefined ? {} : { MessageGroupId: group }),
        ...(url.endsWith(".fifo") ? { MessageDeduplicationId: letterId } : {}),
      });
      const { MessageId: id = "" } = await call("SendMessage", to, (options) => client.send(command, options), signal);
      return id;
    },
    async remove({ handle }, signal) {
      const command = new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle: handle });
      await call("DeleteMessage", queue, (options) => client.send(command, options), signal);
    },
    async release({ handle }, signal) {
      const command = new ChangeMessageVisibilityCommand({
        ...{ QueueUrl: queue.url, ReceiptHandle: handle, VisibilityTimeout: 0 },
      });
      await call("ChangeMessageVisibility", queue, (options) => client.send(command, options), signal);
    },
  };
}

function letterOf(message: Message, queue: Queue): StoredLetter {
  const { MessageId: id = "", ReceiptHandle: handle = "", Body: body = "", Attributes, MessageAttributes } = message;
  const group = Attributes?.MessageGroupId;
  const source = Attributes?.DeadLetterQueueSourceArn;
  const code = MessageAttributes?.["ERROR_CODE"]?.StringValue;
  const text = MessageAttributes?.["ERROR_MESSAGE"]?.StringValue;
  const error = [code, text].filter((part) => part !== undefined).join(": ");
  return {
    ...{ id, handle, body, sentAt: Number(Attributes?.SentTimestamp ?? 0) },
    ...(group === undefined ? {} : { group }),
    ...(source === undefined ? {} : { source: urlBeside(queue.url, source) }),
    ...(error === "" ? {} : { error }),
  };
}

/** The URL of a queue of the same account and region, by its ARN. */
function urlBeside(url: string, arn: string): string {
  return `${url.slice(0, url.lastIndexOf("/") + 1)}${arn.slice(arn.lastIndexOf(":") + 1)}`;
}
