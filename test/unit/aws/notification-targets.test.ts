import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { arnOfQueue, awsNotificationTargets } from "../../../lib/aws/notification-targets.ts";
import type { NotificationTargets } from "../../../lib/core/ports/notification-targets.ts";
import { faultyWire, type WireFault } from "../../doubles/faulty-wire.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const never = new AbortController().signal;
const region = "eu-north-1";
const topic = `arn:aws:sns:${region}:123456789012:alerts`;
const bus = `arn:aws:events:${region}:123456789012:event-bus/platform`;
const queueUrl = `https://sqs.${region}.amazonaws.com/123456789012/alerts`;
const queue = `arn:aws:sqs:${region}:123456789012:alerts`;
const listed = [topic, `${topic}.fifo`, bus, queue, `${queue}.fifo`];
const message = { namespace: "apps", body: '{"message":"ä"}', attributes: { severity: "error" }, group: "g", id: "i" };

interface Seen {
  readonly authorization: string;
  readonly action: string;
  readonly body: string;
}

/** What goes over the wire for one call, which is answered so. */
async function over(answers: readonly WireFault[], call: (targets: NotificationTargets) => Promise<void>) {
  const seen: Seen[] = [];
  await using wire = await faultyWire(undefined, ({ headers }, count, body) => {
    const { authorization = "", "x-amz-target": action } = headers;
    seen.push({ authorization, action: String(action ?? ""), body: body.toString() });
    return answers[Math.min(count, answers.length - 1)] ?? "dropped";
  });
  const clock = steppedClock();
  const targets = awsNotificationTargets({
    connection: { endpoint: wire.url, credentials: { accessKeyId: "x", secretAccessKey: "y" } },
    clock: { now: () => clock.now(), sleep: async (ms) => clock.pass(ms) },
    isAllowed: (namespace, arn) => namespace === "apps" && listed.includes(arn),
  });
  const error = await call(targets).then(
    () => undefined,
    (thrown: unknown) => String(thrown),
  );
  return { error, seen };
}

const published: WireFault = { status: 200, body: "<PublishResponse/>" };
const xmlError = (status: number, code: string): WireFault => ({
  status,
  body: `<ErrorResponse><Error><Code>${code}</Code><Message>no</Message></Error></ErrorResponse>`,
});

describe("an SNS topic", () => {
  const publish = (topicArn: string) => (targets: NotificationTargets) =>
    targets.publish({ ...message, topicArn, subject: "[error] web" }, never);

  test("gets one request in its own region, signed for SNS", async () => {
    const { error, seen } = await over([published], publish(topic));
    expect(error).toBeUndefined();
    expect(seen).toHaveLength(1);
    expect(seen[0]?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=x\/\d{8}\/eu-north-1\/sns\/aws4_request, SignedHeaders=[^,]*content-type[^,]*, Signature=/,
    );
    expect(Object.fromEntries(new URLSearchParams(seen[0]?.body))).toEqual({
      Action: "Publish",
      Version: "2010-03-31",
      TopicArn: topic,
      Subject: "[error] web",
      Message: message.body,
      "MessageAttributes.entry.1.Name": "severity",
      "MessageAttributes.entry.1.Value.DataType": "String",
      "MessageAttributes.entry.1.Value.StringValue": "error",
    });
  });

  test("of type FIFO gets the group and the id", async () => {
    const { seen } = await over([published], publish(`${topic}.fifo`));
    const form = new URLSearchParams(seen[0]?.body);
    expect([form.get("MessageGroupId"), form.get("MessageDeduplicationId")]).toEqual(["g", "i"]);
  });

  test("is retried while SNS throttles or fails, at most four times", async () => {
    const { error, seen } = await over(
      [xmlError(400, "Throttling"), xmlError(500, "InternalError"), published],
      publish(topic),
    );
    expect([error, seen.length]).toEqual([undefined, 3]);
    const still = await over([xmlError(503, "ServiceUnavailable")], publish(topic));
    expect(still.seen).toHaveLength(4);
    expect(still.error).toContain(`sns:Publish on topic ${topic}: AWS has an internal error, even after several tries`);
  });

  test("without the right to publish is an error that names the right", async () => {
    const { error, seen } = await over([xmlError(403, "AuthorizationError")], publish(topic));
    expect(error).toContain("allow sns:Publish in the policy of the role and of the resource");
    expect(seen).toHaveLength(1);
  });

  test("that the installation does not list for the namespace is not called", async () => {
    const other = await over([published], publish(`${topic}-of-others`));
    expect(other.error).toContain(
      `this installation does not lend its AWS identity to namespace apps for ${topic}-of-others: add it to the notificationTargets of this cluster`,
    );
    const elsewhere = await over([published], (targets) =>
      targets.publish({ ...message, namespace: "team-b", topicArn: topic, subject: "s" }, never),
    );
    expect(elsewhere.error).toContain("namespace team-b");
    expect([...other.seen, ...elsewhere.seen]).toEqual([]);
  });
});

describe("an EventBridge bus", () => {
  const put =
    (time = "2026-11-22T12:00:00Z") =>
    (targets: NotificationTargets) =>
      targets.putEvent({ namespace: "apps", busArn: bus, detailType: "HealthCheckFailed", detail: "{}", time }, never);
  const taken: WireFault = { status: 200, body: '{"FailedEntryCount":0,"Entries":[{"EventId":"1"}]}' };

  test("gets one entry of the source sluice", async () => {
    const { error, seen } = await over([taken], put());
    expect(error).toBeUndefined();
    expect(seen[0]?.action).toBe("AWSEvents.PutEvents");
    expect(seen[0]?.authorization).toContain("/eu-north-1/events/aws4_request");
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({
      Entries: [
        {
          EventBusName: bus,
          Source: "sluice",
          DetailType: "HealthCheckFailed",
          Detail: "{}",
          Time: Date.UTC(2026, 10, 22, 12) / 1_000,
        },
      ],
    });
  });

  test("gets no time if the event has no valid one", async () => {
    const { seen } = await over([taken], put("soon"));
    expect(JSON.parse(seen[0]?.body ?? "")).not.toHaveProperty("Entries.0.Time");
  });

  test.each([
    [
      {
        status: 200,
        body: '{"FailedEntryCount":1,"Entries":[{"ErrorCode":"NotAuthorized","ErrorMessage":"not you"}]}',
      },
      `events:PutEvents on event bus ${bus}: not you`,
    ],
    [{ status: 200, body: "<html>proxy</html>" }, "AWS's answer cannot be read"],
    [
      { status: 400, body: '{"__type":"com.amazonaws.events#ResourceNotFoundException","message":"no bus"}' },
      `it does not exist in region ${region}; create it or correct its name (no bus)`,
    ],
  ] as const)("that answers %j has not accepted it", async (answer, why) => {
    expect((await over([answer], put())).error).toContain(why);
  });
});

describe("an SQS queue", () => {
  const send = (url: string) => (targets: NotificationTargets) => targets.send({ ...message, queueUrl: url }, never);
  const sent: WireFault = {
    status: 200,
    headers: { "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify({
      MessageId: "1",
      MD5OfMessageBody: createHash("md5").update(message.body).digest("hex"),
    }),
  };
  const Sent = z.record(z.string(), z.unknown());

  test("gets the event with its attributes", async () => {
    const { error, seen } = await over([sent], send(queueUrl));
    expect(error).toBeUndefined();
    expect(seen[0]?.authorization).toContain(`/${region}/sqs/aws4_request`);
    expect(Sent.parse(JSON.parse(seen[0]?.body ?? ""))).toEqual({
      QueueUrl: queueUrl,
      MessageBody: message.body,
      MessageAttributes: { severity: { DataType: "String", StringValue: "error" } },
    });
  });

  test("of type FIFO gets the group and the id", async () => {
    const { seen } = await over([sent], send(`${queueUrl}.fifo`));
    expect(JSON.parse(seen[0]?.body ?? "")).toMatchObject({ MessageGroupId: "g", MessageDeduplicationId: "i" });
  });

  test("on another host cannot be listed", async () => {
    const url = `https://sqs.${region}.example.com/123456789012/alerts`;
    const { error, seen } = await over([sent], send(url));
    expect(error).toContain(`for ${url}`);
    expect(seen).toEqual([]);
  });

  test.each([
    [queueUrl, queue],
    ["https://sqs.cn-north-1.amazonaws.com.cn/123456789012/a", "arn:aws-cn:sqs:cn-north-1:123456789012:a"],
    ["https://sqs.us-gov-west-1.amazonaws.com/123456789012/a", "arn:aws-us-gov:sqs:us-gov-west-1:123456789012:a"],
    [
      "https://sqs.eu-west-1.amazonaws.com.evil.example/123456789012/a",
      "https://sqs.eu-west-1.amazonaws.com.evil.example/123456789012/a",
    ],
  ])("%s is listed as %s", (url, arn) => {
    expect(arnOfQueue(url)).toBe(arn);
  });
});
