import { randomUUID } from "node:crypto";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Queue, sqsClient, sqsDeadLetters, sqsVisibility, sqsWakeUps } from "../../lib/aws/sqs.ts";
import { digestOf } from "../../lib/core/digest.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { faultyWire } from "../doubles/faulty-wire.ts";
import { type DeadLettersBackEnd, deadLettersContract } from "./dead-letters.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";
import { type QueueBackEnd, wakeUpQueueContract } from "./wake-up-queue.ts";

const connection = realAws("SQS");

describe.skipIf(connection === undefined)("where SLUICE_REAL_SQS names one (npm run real -- up)", () => {
  const of = connection ?? { region: "" };
  let client: SQSClient;
  beforeAll(() => {
    client = sqsClient(of);
  });
  afterAll(() => client.destroy());

  async function createQueue(): Promise<Queue> {
    const { QueueUrl: url = "" } = await client.send(new CreateQueueCommand({ QueueName: randomUUID() }));
    return { url, region: of.region };
  }

  async function receive(queue: Queue, visibilityMs: number) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queue.url,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: visibilityMs / 1000,
        MessageSystemAttributeNames: ["ApproximateReceiveCount", "MessageGroupId"],
      }),
    );
    return Messages;
  }

  wakeUpQueueContract("SQS", async (): Promise<QueueBackEnd> => {
    const queue = await createQueue();
    const hide = sqsVisibility(client, queue);
    return {
      wakeUps: sqsWakeUps(client, queue),
      receive: async (visibilityMs) =>
        (await receive(queue, visibilityMs)).map(
          ({ Body: body = "", ReceiptHandle: handle = "", Attributes = {} }) => ({
            body,
            receives: Number(Attributes.ApproximateReceiveCount),
            hide: (ms) => hide(handle, ms, never),
            remove: async () => {
              await client.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle: handle }));
            },
          }),
        ),
      pass: (ms) => systemClock.sleep(ms, never),
      close: async () => {
        await client.send(new DeleteQueueCommand({ QueueUrl: queue.url }));
      },
    };
  });

  deadLettersContract("SQS", async (): Promise<DeadLettersBackEnd> => {
    const queue = await createQueue();
    return {
      deadLetters: sqsDeadLetters(client, queue),
      letters: async () => (await receive(queue, 0)).map(({ Body = "" }) => Body),
      close: async () => {
        await client.send(new DeleteQueueCommand({ QueueUrl: queue.url }));
      },
    };
  });

  test("the wake-ups of a cluster are a message group, so that no other cluster waits for them", async () => {
    const queue = await createQueue();
    const wakeUps = sqsWakeUps(client, queue);
    const prod = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
    const long = prod + "x".repeat(96);
    for (const cluster of ["home", prod, long])
      for (const name of ["a", "b"]) await wakeUps.send({ key: `${cluster}/g/K/ns/${name}` }, 0, never);
    const messages = await receive(queue, 1_000);
    const groups = new Set(messages.map(({ Attributes }) => Attributes?.MessageGroupId));
    expect(groups).toEqual(new Set(["home", prod, digestOf(long)]));
  });

  test("a message that SQS refuses is an error with the reason refused", async () => {
    const queue = await createQueue();
    // SQS refuses none of the messages, so the proxy changes one on the way.
    const onward = JSON.stringify({ QueueUrl: queue.url, MessageBody: "k".repeat(1_048_577) });
    await using wire = await faultyWire(of.endpoint, () => ({ onward }));
    const through = sqsClient({ ...of, endpoint: wire.url });
    await expect(sqsWakeUps(through, queue).send({ key: "web" }, 0, never)).rejects.toMatchObject({
      reason: "refused",
      message: expect.stringContaining(`sqs:SendMessage on queue ${queue.url}: `),
    });
    through.destroy();
  });

  test("hiding a message that was removed meanwhile does nothing", async () => {
    const queue = await createQueue();
    await sqsWakeUps(client, queue).send({ key: "web" }, 0, never);
    const [message] = await receive(queue, 10_000);
    const handle = message?.ReceiptHandle ?? "";
    await client.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle: handle }));
    await sqsVisibility(client, queue)(handle, 60_000, never);
    expect(await receive(queue, 1_000)).toEqual([]);
  });

  test("a send whose answer was lost is repeated, so the wake-up arrives once or twice", async () => {
    const queue = await createQueue();
    await using wire = await faultyWire(of.endpoint, (_, count) => (count === 0 ? "lost" : "pass"));
    const through = sqsClient({ ...of, endpoint: wire.url });
    await sqsWakeUps(through, queue).send({ key: "web" }, 0, never);
    expect(wire.seen).toHaveLength(2);
    const bodies = (await receive(queue, 10_000)).map(({ Body }) => Body);
    expect(new Set(bodies)).toEqual(new Set([JSON.stringify({ key: "web" })]));
    through.destroy();
  });

  test("a missing queue is named with a mend", async () => {
    const queue = await createQueue();
    const missing = { ...queue, url: `${queue.url}-missing` };
    await expect(sqsWakeUps(client, missing).send({ key: "web" }, 0, never)).rejects.toMatchObject({
      reason: "missing",
      message: expect.stringContaining(`sqs:SendMessage on queue ${missing.url}: it does not exist in region`),
    });
  });
});
