import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { WakeUps } from "../../core/ports/wake-ups.ts";
import { wakeUpBody } from "../../core/wake-up-body.ts";
import { callAws } from "../call-aws.ts";
import { messageGroup } from "./message-group.ts";
import { type Queue, queueAction } from "./queue-action.ts";

/** Wake-ups on a standard queue. A send that was tried twice may have sent two, which the work item makes harmless. */
export function sqsWakeUps(client: SQSClient, queue: Queue): WakeUps {
  return {
    async send(wakeUp, delayMs, signal) {
      const command = new SendMessageCommand({
        QueueUrl: queue.url,
        MessageBody: wakeUpBody(wakeUp, delayMs),
        DelaySeconds: Math.ceil(delayMs / 1000),
        MessageGroupId: messageGroup(wakeUp.key),
      });
      await callAws(queueAction("sqs:SendMessage", queue), (options) => client.send(command, options), signal);
    },
  };
}
