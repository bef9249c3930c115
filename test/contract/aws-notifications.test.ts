import { randomUUID } from "node:crypto";
import { CreateQueueCommand, DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqsClient } from "../../lib/aws/sqs.ts";
import { sqsNotifications } from "../../lib/aws/sqs-notifications.ts";
import type { Notification } from "../../lib/notify/notification.ts";
import { NotificationMessage } from "../../lib/notify/notification-message.ts";
import { notificationEventOf } from "../unit/notify/notification-event-of.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("SQS");

function about(name: string, second: number, alert = "on-call"): Notification {
  const involvedObject = { kind: "Kustomization", namespace: "apps", name };
  const timestamp = `2026-11-22T12:00:0${second}Z`;
  return {
    ...{ cluster: "prod", eventKey: `${name}-${second}` },
    event: notificationEventOf({ involvedObject, timestamp, message: `${name} ${second}` }),
    alert: { namespace: "apps", name: alert },
    provider: { namespace: "apps", name: "slack" },
  };
}

describe.skipIf(connection === undefined)("the queue of notifications in SQS", () => {
  const of = connection ?? { region: "" };
  let client: SQSClient;
  beforeAll(() => {
    client = sqsClient(of);
  });
  afterAll(() => client.destroy());

  async function queue() {
    const command = new CreateQueueCommand({ QueueName: `${randomUUID()}.fifo`, Attributes: { FifoQueue: "true" } });
    const { QueueUrl: url = "" } = await client.send(command);
    const received = async (): Promise<readonly Notification[]> => {
      const found: Notification[] = [];
      for (;;) {
        const { Messages = [] } = await client.send(
          new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }),
        );
        if (Messages.length === 0) return found;
        for (const { Body = "", ReceiptHandle } of Messages) {
          found.push(NotificationMessage.parse(JSON.parse(Body)));
          await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
        }
      }
    };
    return { notifications: sqsNotifications(client, { url, region: of.region }), received };
  }

  test("delivers messages of one object in the order in which they were added", async () => {
    const { notifications, received } = await queue();
    for (let second = 0; second < 5; second++) {
      await notifications.add([about("web", second), about("api", second)], never);
    }
    const messages = (await received()).map(({ event }) => event.message);
    for (const name of ["web", "api"]) {
      const own = messages.filter((text) => text.startsWith(name));
      expect(own).toEqual([0, 1, 2, 3, 4].map((second) => `${name} ${second}`));
    }
  });

  test("delivers a message that was added twice once, and the same event for two Alerts twice", async () => {
    const { notifications, received } = await queue();
    await notifications.add([about("web", 0)], never);
    await notifications.add([about("web", 0), about("web", 0, "chat")], never);
    expect((await received()).map(({ alert }) => alert.name).toSorted()).toEqual(["chat", "on-call"]);
  });
});
