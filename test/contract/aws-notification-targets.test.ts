import { randomUUID } from "node:crypto";
import { CreateQueueCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { awsNotificationTargets } from "../../lib/aws/notification-targets.ts";
import { type SignedPost, signedPost } from "../../lib/aws/signed-post.ts";
import { sqsClient } from "../../lib/aws/sqs.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("AWS");
const account = "123456789012";

/** What SNS hands to a queue. */
const Envelope = z.looseObject({
  Message: z.string(),
  Subject: z.string(),
  MessageAttributes: z.record(z.string(), z.object({ Type: z.literal("String"), Value: z.string() })),
});

describe.skipIf(connection === undefined)("targets of notifications in AWS", () => {
  const of = connection ?? { region: "" };
  const { region } = of;
  const all = { connection: of, clock: systemClock, isAllowed: () => true };
  let client: SQSClient;
  let post: SignedPost;
  beforeAll(() => {
    client = sqsClient(of);
    post = signedPost(systemClock, of);
  });
  afterAll(() => client.destroy());

  const message = {
    ...{ namespace: "apps", body: '{"reason":"HealthCheckFailed"}', group: "g", id: "i" },
    attributes: { severity: "error", kind: "Kustomization" },
  };

  async function createQueue(name: string = randomUUID()): Promise<{ readonly name: string; readonly url: string }> {
    const attributes = name.endsWith(".fifo") ? { FifoQueue: "true" } : {};
    const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
    return { name, url: QueueUrl };
  }

  async function received({ url }: { readonly url: string }) {
    const command = new ReceiveMessageCommand({
      QueueUrl: url,
      WaitTimeSeconds: 5,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["MessageGroupId", "MessageDeduplicationId"],
    });
    return (await client.send(command)).Messages ?? [];
  }

  async function sns(form: Readonly<Record<string, string>>): Promise<string> {
    const action = { name: `sns:${form["Action"]}`, resource: "topic", region };
    const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
    const body = new URLSearchParams({ Version: "2010-03-31", ...form }).toString();
    return post({ action, service: "sns", headers, body }, never);
  }

  async function events(name: string, body: object): Promise<void> {
    const action = { name: `events:${name}`, resource: "bus", region };
    const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": `AWSEvents.${name}` };
    await post({ action, service: "events", headers, body: JSON.stringify(body) }, never);
  }

  test("an SNS topic delivers the event, its subject and its attributes to its subscribers", async () => {
    const queue = await createQueue();
    const made = await sns({ Action: "CreateTopic", Name: randomUUID() });
    const topicArn = /<TopicArn>([^<]+)<\/TopicArn>/.exec(made)?.[1] ?? "";
    const endpoint = `arn:aws:sqs:${region}:${account}:${queue.name}`;
    await sns({ Action: "Subscribe", TopicArn: topicArn, Protocol: "sqs", Endpoint: endpoint });
    await awsNotificationTargets(all).publish({ ...message, topicArn, subject: "[error] web" }, never);
    const [{ Body = "{}" } = {}] = await received(queue);
    expect(Envelope.parse(JSON.parse(Body))).toMatchObject({
      Message: message.body,
      Subject: "[error] web",
      MessageAttributes: { severity: { Value: "error" }, kind: { Value: "Kustomization" } },
    });
  });

  test("a missing SNS topic is reported as missing", async () => {
    const topicArn = `arn:aws:sns:${region}:${account}:${randomUUID()}`;
    const published = awsNotificationTargets(all).publish({ ...message, topicArn, subject: "s" }, never);
    await expect(published).rejects.toThrow(`sns:Publish on topic ${topicArn}: `);
  });

  test("an EventBridge bus delivers an event of the source sluice, with the reason as its type, to its rules", async () => {
    const queue = await createQueue();
    const bus = randomUUID();
    await events("CreateEventBus", { Name: bus });
    const pattern = { source: ["sluice"], "detail-type": ["HealthCheckFailed"] };
    await events("PutRule", { Name: bus, EventBusName: bus, EventPattern: JSON.stringify(pattern) });
    const arn = `arn:aws:sqs:${region}:${account}:${queue.name}`;
    await events("PutTargets", { Rule: bus, EventBusName: bus, Targets: [{ Id: "queue", Arn: arn }] });
    await awsNotificationTargets(all).putEvent(
      {
        namespace: "apps",
        busArn: `arn:aws:events:${region}:${account}:event-bus/${bus}`,
        ...{ detailType: "HealthCheckFailed", detail: message.body, time: "2026-11-22T12:00:00Z" },
      },
      never,
    );
    const [{ Body = "{}" } = {}] = await received(queue);
    expect(JSON.parse(Body)).toMatchObject({
      source: "sluice",
      "detail-type": "HealthCheckFailed",
      detail: { reason: "HealthCheckFailed" },
    });
  });

  test.each([
    ["a standard queue", randomUUID(), {}],
    ["a FIFO queue", `${randomUUID()}.fifo`, { MessageGroupId: "g", MessageDeduplicationId: "i" }],
  ])("an SQS %s gets the event with its attributes", async (_, name, told) => {
    const queue = await createQueue(name);
    const queueUrl = `https://sqs.${region}.amazonaws.com/${account}/${queue.name}`;
    await awsNotificationTargets(all).send({ ...message, queueUrl }, never);
    const [{ Body, MessageAttributes, Attributes } = {}] = await received(queue);
    expect(Body).toBe(message.body);
    expect(MessageAttributes).toMatchObject({
      severity: { DataType: "String", StringValue: "error" },
      kind: { DataType: "String", StringValue: "Kustomization" },
    });
    expect(Attributes ?? {}).toMatchObject(told);
  });
});
