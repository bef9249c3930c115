import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { sqsClient, sqsDeadLetters, sqsSweepRequests, sqsVisibility, sqsWakeUps } from "../../../lib/aws/sqs.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { deadlineMs } from "../../deadline.ts";
import { faultyWire, type WireFault } from "../../doubles/faulty-wire.ts";
import { signedAt } from "./signed-at.ts";

const never = new AbortController().signal;
const region = "eu-west-1";
const credentials = { accessKeyId: "x", secretAccessKey: "y" };
const account = "111111111111";
const wakeUp = { key: "home/g/K/ns/web" };
const Sent = z.looseObject({ MessageBody: z.string(), MessageGroupId: z.string() });

function sqsError(status: number, type: string, message: string): WireFault {
  const body = JSON.stringify({ __type: `com.amazonaws.sqs#${type}`, message });
  return { status, body, headers: { "content-type": "application/x-amz-json-1.0" } };
}

/** Sends one wake-up over a wire with faults; what was thrown, and how many requests there were. */
async function sendOver(faultOf: (count: number) => WireFault, signal = never) {
  await using wire = await faultyWire(undefined, (_, count) => faultOf(count));
  const client = sqsClient({ region, endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs });
  const queue = { url: `${wire.url}/${account}/reconcile`, region };
  try {
    const error = await sqsWakeUps(client, queue)
      .send(wakeUp, 0, signal)
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    return { error, requests: wire.seen.length, queue };
  } finally {
    client.destroy();
  }
}

const sent: WireFault = {
  status: 200,
  headers: { "content-type": "application/x-amz-json-1.0" },
  // The SDK compares it with what it sent.
  body: JSON.stringify({
    MessageId: "1",
    MD5OfMessageBody: createHash("md5").update(JSON.stringify(wakeUp)).digest("hex"),
  }),
};

describe("an SQS queue for wake-ups", () => {
  test.each([
    ["throttles", sqsError(400, "RequestThrottled", "slow down")],
    ["has a fault", sqsError(500, "InternalFailure", "oops")],
    ["is missing for a moment", { status: 503 } as const],
  ])("that %s is retried", async (_, fault) => {
    const { error, requests } = await sendOver((count) => (count < 2 ? fault : sent));
    expect([error, requests]).toEqual([undefined, 3]);
  });

  test.each([
    ["throttled", sqsError(400, "RequestThrottled", "slow down"), "AWS throttles the call, even after several tries"],
    ["unavailable", { status: 503 } as const, "AWS has an internal error"],
  ])("that keeps failing is given up after four attempts: %s", async (reason, fault, message) => {
    const { error, requests, queue } = await sendOver(() => fault);
    expect(error).toMatchObject({ reason, message: expect.stringContaining(message) });
    expect(error).toMatchObject({ message: expect.stringContaining(`sqs:SendMessage on queue ${queue.url}`) });
    expect(requests).toBe(4);
  });

  test.each([
    ["ExpiredToken", "credentials", "the AWS credentials have expired"],
    ["InvalidClientTokenId", "credentials", "AWS does not accept the credentials"],
    ["QueueDoesNotExist", "missing", `it does not exist in region ${region}`],
    ["KmsAccessDenied", "key", "allow kms:Decrypt and kms:GenerateDataKey on it"],
    ["KmsDisabled", "key", "enable it"],
    ["RequestExpired", "clock", "this machine's clock is too far from AWS's"],
    ["AccessDenied", "denied", "allow sqs:SendMessage in the policy of the role"],
    ["InvalidMessageContents", "refused", "said so"],
  ])("that answers %s is not retried", async (code, reason, message) => {
    const { error, requests } = await sendOver(() => sqsError(code === "AccessDenied" ? 403 : 400, code, "said so"));
    expect(error).toMatchObject({ reason, code, message: expect.stringContaining(message) });
    expect(requests).toBe(1);
  });

  test("has an error of one line that names it, whatever AWS returns", async () => {
    const { error, queue } = await sendOver(() => sqsError(403, "AccessDenied", "not\n  allowed\r\n"));
    const why = "allow sqs:SendMessage in the policy of the role and of the resource (not allowed )";
    expect(error).toMatchObject({ message: `sqs:SendMessage on queue ${queue.url}: ${why}` });
  });

  test("of another account than the credentials' is named with both accounts", async () => {
    const said = "User: arn:aws:sts::222222222222:assumed-role/sluice/f is not authorized to perform: sqs:sendmessage";
    const { error } = await sendOver(() => sqsError(403, "AccessDenied", said));
    const why = `the credentials are of account 222222222222, it is of account ${account}`;
    expect(error).toMatchObject({ reason: "denied", message: expect.stringContaining(why) });
  });

  test.each([-300_000, 300_000])("whose clock differs by %i ms is retried with its own time", async (ms) => {
    const dates: number[] = [];
    const date = new Date(Date.now() + ms);
    const skewed = sqsError(403, "InvalidSignatureException", "Signature expired or not yet current");
    await using wire = await faultyWire(undefined, (request, count) => {
      dates.push(signedAt(request));
      return count > 0 || typeof skewed !== "object" ? sent : { ...skewed, headers: { date: date.toUTCString() } };
    });
    const client = sqsClient({ region, endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs });
    await sqsWakeUps(client, { url: `${wire.url}/${account}/q`, region }).send(wakeUp, 0, never);
    const [before = Number.NaN, after = Number.NaN] = dates;
    expect(dates).toHaveLength(2);
    expect((after - before) * Math.sign(ms)).toBeGreaterThan(240_000);
    client.destroy();
  });

  test("that hangs is aborted with the run", async () => {
    const reason = new Error("the time is up");
    const stop = new AbortController();
    const { error } = await sendOver(() => {
      stop.abort(reason);
      return "hang";
    }, stop.signal);
    expect(error).toBe(reason);
  });

  test.each([
    [0, 0],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [900_000, 900],
  ])("gets a delay of %i ms in whole seconds, rounded up: %i", async (delayMs, seconds) => {
    const asked: unknown[] = [];
    await using wire = await faultyWire(undefined, (_, __, body) => (asked.push(JSON.parse(body.toString())), sent));
    const client = sqsClient({ region, endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs });
    const queue = { url: `${wire.url}/${account}/q`, region };
    await sqsWakeUps(client, queue).send(wakeUp, delayMs, never);
    expect(asked).toEqual([expect.objectContaining({ QueueUrl: queue.url, DelaySeconds: seconds })]);
    expect(asked).toEqual([expect.objectContaining({ MessageBody: JSON.stringify(wakeUp) })]);
    client.destroy();
  });

  test("does not get a delay that it does not support", async () => {
    const { error, requests } = await sendOver(() => sent);
    expect([error, requests]).toEqual([undefined, 1]);
    const wakeUps = sqsWakeUps(sqsClient({ region, credentials }), { url: "https://sqs.test/1/q", region });
    await expect(wakeUps.send({ key: "web" }, 900_001, never)).rejects.toThrow("store its dueAt instead");
  });

  test.each([
    ["home", "home"],
    ["arn:aws:eks:eu-west-1:123456789012:cluster/prod", "arn:aws:eks:eu-west-1:123456789012:cluster/prod"],
    ["of two words", expect.stringMatching(/^sha256:[0-9a-f]{64}$/)],
    ["x".repeat(129), expect.stringMatching(/^sha256:[0-9a-f]{64}$/)],
  ])(
    "groups the wake-ups, sweeps and dead letters of cluster %j under a group id that SQS accepts",
    async (cluster, group) => {
      const groups: unknown[] = [];
      await using wire = await faultyWire(undefined, (_, __, bytes) => {
        const { MessageBody, MessageGroupId } = Sent.parse(JSON.parse(bytes.toString()));
        groups.push(MessageGroupId);
        const body = JSON.stringify({
          MessageId: "1",
          MD5OfMessageBody: createHash("md5").update(MessageBody).digest("hex"),
        });
        return { status: 200, headers: { "content-type": "application/x-amz-json-1.0" }, body };
      });
      const client = sqsClient({ region, endpoint: wire.url, credentials });
      const queue = { url: `${wire.url}/${account}/q`, region };
      const key = { cluster, group: "g", kind: "K", namespace: "ns", name: "web" };
      await sqsWakeUps(client, queue).send({ key: formatWorkKey(key) }, 0, never);
      await sqsSweepRequests(client, queue).send(cluster, never);
      await sqsDeadLetters(client, queue).send({ key, attempts: 1, message: "m" }, never);
      expect(groups).toEqual([group, group, group]);
      client.destroy();
    },
  );

  test.each([
    [1, 1],
    [60_000, 60],
    [100_000_000, 43_200],
  ])("hides a message for %i ms, in seconds and for at most twelve hours", async (ms, seconds) => {
    const hidden: unknown[] = [];
    await using wire = await faultyWire(undefined, (_, __, bytes) => {
      hidden.push(JSON.parse(bytes.toString()));
      return { status: 200, headers: { "content-type": "application/x-amz-json-1.0" }, body: "{}" };
    });
    const client = sqsClient({ region, endpoint: wire.url, credentials });
    await sqsVisibility(client, { url: `${wire.url}/${account}/q`, region })("handle", ms, never);
    expect(hidden).toMatchObject([{ ReceiptHandle: "handle", VisibilityTimeout: seconds }]);
    client.destroy();
  });

  test("ignores hiding a message that another reader has received", async () => {
    const said = "Reason: Message does not exist or is not available for visibility timeout change.";
    await using wire = await faultyWire(undefined, () => sqsError(400, "InvalidParameterValue", said));
    const client = sqsClient({ region, endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs });
    await sqsVisibility(client, { url: `${wire.url}/${account}/q`, region })("handle", 60_000, never);
    expect(wire.seen).toHaveLength(1);
    client.destroy();
  });
});

describe("missing credentials", () => {
  test("are reported before any request", async () => {
    await using wire = await faultyWire(undefined, () => sent);
    const nobody = async () => {
      throw Object.assign(new Error("Could not load credentials from any providers"), {
        name: "CredentialsProviderError",
      });
    };
    const client = sqsClient({ region, endpoint: wire.url, credentials: nobody, attemptTimeoutMs: deadlineMs });
    const wakeUps = sqsWakeUps(client, { url: `${wire.url}/${account}/q`, region });
    await expect(wakeUps.send({ key: "web" }, 0, never)).rejects.toMatchObject({
      reason: "credentials",
      message: expect.stringContaining("there are no AWS credentials"),
    });
    expect(wire.seen).toEqual([]);
    client.destroy();
  });
});
