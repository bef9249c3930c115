import { describe, expect, test } from "vitest";
import type { BusEvent, QueueMessage, TopicMessage } from "../../../../lib/core/ports/notification-targets.ts";
import type { NotificationEvent } from "../../../../lib/notify/notification-event.ts";
import type { ProviderParts, ProviderSettings } from "../../../../lib/notify/provider.ts";
import { type AwsProviderType, awsProviders } from "../../../../lib/notify/providers/aws-providers.ts";
import { notificationEventOf } from "../notification-event-of.ts";

const never = new AbortController().signal;
const topic = "arn:aws:sns:eu-west-1:123456789012:alerts";
const bus = "arn:aws:events:eu-west-1:123456789012:event-bus/platform";
const queue = "https://sqs.eu-west-1.amazonaws.com/123456789012/alerts";
const parts: ProviderParts = {
  http: { send: () => Promise.reject(new Error("no request by HTTP was expected")) },
  dial: () => Promise.reject(new Error("no connection was expected")),
  now: () => 0,
  sleep: () => Promise.reject(new Error("no wait was expected")),
};

function settingsOf(type: string, address: string, alertUid = "a-1"): ProviderSettings {
  return {
    ...{ type, address, name: "aws", namespace: "apps", uid: "p-1" },
    ...{ channel: "", username: "", password: "", token: "", headers: {}, secret: {} },
    alert: { name: "on-call", namespace: "apps", uid: alertUid },
  };
}

/** What a Provider of this type sends for an event. */
async function sent(type: AwsProviderType, address: string, event: NotificationEvent, alertUid?: string) {
  const topics: TopicMessage[] = [];
  const events: BusEvent[] = [];
  const messages: QueueMessage[] = [];
  const providers = awsProviders({
    publish: async (message) => void topics.push(message),
    putEvent: async (one) => void events.push(one),
    send: async (message) => void messages.push(message),
  });
  await providers[type].make(settingsOf(type, address, alertUid), parts).post(event, never);
  return { topics, events, messages };
}

const event = notificationEventOf();

describe("a Provider of type sns", () => {
  test("publishes the event with a subject and attributes that subscriptions filter by", async () => {
    const { topics } = await sent("sns", topic, event);
    expect(topics).toEqual([
      {
        topicArn: topic,
        namespace: "apps",
        subject: "[error] Kustomization/apps/web HealthCheckFailed",
        body: JSON.stringify(event),
        attributes: {
          severity: "error",
          kind: "Kustomization",
          namespace: "apps",
          name: "web",
          reason: "HealthCheckFailed",
        },
        group: expect.stringMatching(/^[0-9a-f]{64}$/),
        id: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
  });

  test("shortens a subject to what SNS accepts, and leaves out empty attributes", async () => {
    const odd = notificationEventOf({ severity: "", reason: `Ünïcode\n${"x".repeat(200)}` });
    const [message] = (await sent("sns", topic, odd)).topics;
    expect(message?.subject).toMatch(/^\[\] Kustomization\/apps\/web \?n\?code\?x+$/);
    expect(message?.subject).toHaveLength(100);
    expect(Object.keys(message?.attributes ?? {})).toEqual(["kind", "namespace", "name", "reason"]);
  });

  test("has the same id for the same event of an Alert", async () => {
    const idOf = async (alert: string, one = event) => (await sent("sns", topic, one, alert)).topics[0]?.id;
    expect(await idOf("a-1")).toBe(await idOf("a-1"));
    expect(await idOf("a-1")).not.toBe(await idOf("a-2"));
    expect(await idOf("a-1")).not.toBe(await idOf("a-1", notificationEventOf({ message: "other" })));
  });
});

describe("a Provider of type eventbridge", () => {
  test("puts an event whose type is the reason, and whose detail is the event", async () => {
    const { events } = await sent("eventbridge", bus, event);
    expect(events).toEqual([
      {
        namespace: "apps",
        busArn: bus,
        detailType: "HealthCheckFailed",
        detail: JSON.stringify(event),
        time: event.timestamp,
      },
    ]);
  });

  test("names an event without a reason Event", async () => {
    const { events } = await sent("eventbridge", bus, notificationEventOf({ reason: "" }));
    expect(events[0]?.detailType).toBe("Event");
  });
});

test("a Provider of type sqs sends the event with the attributes of a topic", async () => {
  const [published] = (await sent("sns", topic, event)).topics;
  const { messages } = await sent("sqs", queue, event);
  const { body, attributes, group, id } = published ?? {};
  expect(messages).toEqual([{ queueUrl: queue, namespace: "apps", body, attributes, group, id }]);
});

test.each([
  ["sns", queue, "address must be the ARN of a topic, arn:aws:sns:<region>:<account>:<name>"],
  ["sns", "", "address must be the ARN of a topic"],
  ["sns", `${topic}:subscription`, "address must be the ARN of a topic"],
  ["eventbridge", topic, "address must be the ARN of an event bus, arn:aws:events:<region>:<account>:event-bus/<name>"],
  ["sqs", topic, "address must be the URL of a queue, https://sqs.<region>.amazonaws.com/<account>/<name>"],
  ["sqs", queue.replace("https", "http"), "address must be the URL of a queue"],
] as const)("a Provider of type %s with the address %s is refused", async (type, address, why) => {
  await expect(sent(type, address, event)).rejects.toThrow(why);
});
