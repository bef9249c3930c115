import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { mapLimit } from "../core/concurrency.ts";
import type { Notification, NotificationQueue } from "../notify/notification.ts";
import { notificationBody, notificationGroup, notificationId } from "../notify/notification-message.ts";
import { callAws } from "./call-aws.ts";
import { type Queue, queueAction } from "./sqs.ts";

/** Messages that are sent at the same time. */
const concurrency = 10;

/**
 * Sends notifications to a FIFO queue: those of one object for one Provider are delivered one after the other, and one that is sent
 * twice within five minutes arrives once.
 */
export function sqsNotifications(client: SQSClient, queue: Queue): NotificationQueue {
  return {
    async add(notifications, signal) {
      const send = async (notification: Notification, stop: AbortSignal): Promise<void> => {
        const command = new SendMessageCommand({
          QueueUrl: queue.url,
          MessageBody: notificationBody(notification),
          MessageGroupId: notificationGroup(notification),
          MessageDeduplicationId: notificationId(notification),
        });
        await callAws(queueAction("sqs:SendMessage", queue), (options) => client.send(command, options), stop);
      };
      await mapLimit(notifications, concurrency, send, signal);
    },
  };
}
