import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { deadLetterBody } from "../../core/dead-letter-body.ts";
import type { DeadLetters } from "../../core/ports/wake-ups.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { callAws } from "../call-aws.ts";
import { messageGroup } from "./message-group.ts";
import { type Queue, queueAction } from "./queue-action.ts";

/** Dead letters as messages of a queue of their own, whose length the alarm is set on. */
export function sqsDeadLetters(client: SQSClient, queue: Queue): DeadLetters {
  return {
    async send(letter, signal) {
      const command = new SendMessageCommand({
        QueueUrl: queue.url,
        MessageBody: deadLetterBody(letter),
        MessageGroupId: messageGroup(formatWorkKey(letter.key)),
      });
      await callAws(queueAction("sqs:SendMessage", queue), (options) => client.send(command, options), signal);
    },
  };
}
