import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { maxDelayMs, type WakeUps } from "../../core/ports/wake-ups.ts";
import { callAws } from "../call-aws.ts";
import { messageBody } from "./message-body.ts";
import { messageGroup } from "./message-group.ts";
import { type Queue, queueAction } from "./queue-action.ts";

/** Wake-ups on a standard queue. A send that was tried twice may have sent two, which the work item makes harmless. */
export function sqsWakeUps(client: SQSClient, queue: Queue): WakeUps {
  return {
    async send(wakeUp, delayMs, signal) {
      if (!(delayMs >= 0 && delayMs <= maxDelayMs)) {
        throw new RangeError(
          `a wake-up can be delayed by 0 to ${maxDelayMs} ms, not ${delayMs}: store its dueAt instead`,
        );
      }
      const command = new SendMessageCommand({
        QueueUrl: queue.url,
        MessageBody: messageBody(wakeUp),
        DelaySeconds: Math.ceil(delayMs / 1000),
        MessageGroupId: messageGroup(wakeUp.key),
      });
      await callAws(queueAction("sqs:SendMessage", queue), (options) => client.send(command, options), signal);
    },
  };
}
