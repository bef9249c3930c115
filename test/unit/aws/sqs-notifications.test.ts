import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { sqsClient } from "../../../lib/aws/sqs.ts";
import { sqsNotifications } from "../../../lib/aws/sqs-notifications.ts";
import type { Notification } from "../../../lib/notify/notification.ts";
import { notificationBody, notificationGroup, notificationId } from "../../../lib/notify/notification-message.ts";
import { deadlineMs } from "../../deadline.ts";
import { faultyWire, type WireFault } from "../../doubles/faulty-wire.ts";
import { notificationEventOf } from "../notify/notification-event-of.ts";

const region = "eu-west-1";
const Sent = z.record(z.string(), z.unknown());

function messageFor(alert: string): Notification {
  return {
    ...{ cluster: "prod", eventKey: "k", event: notificationEventOf() },
    alert: { namespace: "apps", name: alert },
    provider: { namespace: "apps", name: "slack" },
  };
}

async function add(messages: readonly Notification[], fault?: WireFault) {
  const bodies: unknown[] = [];
  await using wire = await faultyWire(undefined, (_, _count, body) => {
    const sent = Sent.parse(JSON.parse(body.toString()));
    bodies.push(sent);
    const digest = createHash("md5").update(String(sent["MessageBody"])).digest("hex");
    return (
      fault ?? {
        status: 200,
        headers: { "content-type": "application/x-amz-json-1.0" },
        body: JSON.stringify({ MessageId: "1", MD5OfMessageBody: digest }),
      }
    );
  });
  const credentials = { accessKeyId: "x", secretAccessKey: "y" };
  const client = sqsClient({ region, endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs });
  const url = `${wire.url}/123456789012/notifications.fifo`;
  try {
    const error = await sqsNotifications(client, { url, region })
      .add(messages, new AbortController().signal)
      .then(
        () => undefined,
        (thrown: unknown) => String(thrown),
      );
    return { error, bodies, url };
  } finally {
    client.destroy();
  }
}

test("each notification is a separate message, in the group of its object and Provider, with an id of its Alert", async () => {
  const messages = [messageFor("on-call"), messageFor("chat")];
  const { error, bodies, url } = await add(messages);
  expect(error).toBeUndefined();
  const expected = messages.map((message) => ({
    QueueUrl: url,
    MessageBody: notificationBody(message),
    MessageGroupId: notificationGroup(message),
    MessageDeduplicationId: notificationId(message),
  }));
  expect(bodies).toHaveLength(2);
  expect(bodies).toEqual(expect.arrayContaining(expected));
});

test("a queue that refuses one is an error that names the right", async () => {
  const denied: WireFault = {
    status: 403,
    headers: { "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify({ __type: "com.amazonaws.sqs#AccessDeniedException", message: "no" }),
  };
  const { error } = await add([messageFor("on-call")], denied);
  expect(error).toContain("allow sqs:SendMessage in the policy of the role");
});

test("no notifications cause no request", async () => {
  expect((await add([])).bodies).toEqual([]);
});
