import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { DeadLetters } from "../../core/ports/wake-ups.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { callAws } from "../call-aws.ts";
import { messageBody } from "./message-body.ts";
import { messageGroup } from "./message-group.ts";
import { type Queue, queueAction } from "./queue-action.ts";

/** A fault's text may hold what a registry or a webhook said; people need its beginning. */
const maxMessageChars = 10_000;

/** Dead letters as messages of a queue of their own, whose length the alarm is set on. */
export function sqsDeadLetters(client: SQSClient, queue: Queue): DeadLetters {
  return {
    async send({ key, attempts, message }, signal) {
      const text = formatWorkKey(key);
      const command = new SendMessageCommand({
        QueueUrl: queue.url,
        MessageBody: messageBody({ key: text, attempts, message: message.slice(0, maxMessageChars) }),
        MessageGroupId: messageGroup(text),
      });
      await callAws(queueAction("sqs:SendMessage", queue), (options) => client.send(command, options), signal);
    },
  };
}
