import { randomUUID } from "node:crypto";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { moveLetters } from "../../cli/redrive.ts";
import { terminal } from "../../cli/terminal.ts";
import { sqsClient } from "../../lib/aws/sqs.ts";
import { sqsDeadLetterQueue } from "../../lib/aws/sqs-redrive.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("SQS");

describe.skipIf(connection === undefined)("sluice redrive on a queue of SQS", () => {
  const of = connection ?? { region: "" };
  let client: SQSClient;
  beforeAll(() => {
    client = sqsClient(of);
  });
  afterAll(() => client.destroy());

  async function createQueue(Attributes: Readonly<Record<string, string>> = {}): Promise<string> {
    const { QueueUrl: url = "" } = await client.send(new CreateQueueCommand({ QueueName: randomUUID(), Attributes }));
    return url;
  }

  /** A queue whose only event has failed and waits in its dead-letter queue. */
  async function failed(): Promise<{ readonly queue: string; readonly deadLetters: string }> {
    const deadLetters = await createQueue();
    const command = new GetQueueAttributesCommand({ QueueUrl: deadLetters, AttributeNames: ["QueueArn"] });
    const deadLetterTargetArn = (await client.send(command)).Attributes?.QueueArn;
    const policy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
    const queue = await createQueue({ RedrivePolicy: policy, VisibilityTimeout: "0" });
    await client.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: event, MessageGroupId: "prod" }));
    await client.send(new ReceiveMessageCommand({ QueueUrl: queue }));
    await expect
      .poll(() => client.send(new ReceiveMessageCommand({ QueueUrl: queue })))
      .not.toHaveProperty("Messages.0");
    return { queue, deadLetters };
  }

  const event = JSON.stringify({ source: "aws.ecr", "detail-type": "ECR Image Action", detail: {} });
  const bodies = async (url: string): Promise<readonly unknown[]> => {
    const command = new ReceiveMessageCommand({ QueueUrl: url, VisibilityTimeout: 0, WaitTimeSeconds: 1 });
    return ((await client.send(command)).Messages ?? []).map(({ Body }) => Body);
  };
  const move = async (from: string, dryRun: boolean, to?: string): Promise<string> => {
    let said = "";
    const write = (text: string): void => void (said += text);
    const queue = sqsDeadLetterQueue(client, { url: from, region: of.region });
    const given = { queue, terminal: terminal(write, write), limit: 10, dryRun, ...(to === undefined ? {} : { to }) };
    await moveLetters("hints", given, never);
    return said;
  };

  test("shows the failed messages, and moves them back without naming their origin", async () => {
    const { queue, deadLetters } = await failed();
    expect(await move(deadLetters, true)).toContain("1 messages would be moved");
    expect(await bodies(deadLetters)).toEqual([event]);
    expect(await move(deadLetters, false)).toContain("1 messages moved");
    expect([await bodies(deadLetters), await bodies(queue)]).toEqual([[], [event]]);
  });

  test("moves the messages of a queue that no queue uses as its dead-letter queue to a given queue", async () => {
    const [undelivered, hints] = [await createQueue(), await createQueue()];
    await client.send(new SendMessageCommand({ QueueUrl: undelivered, MessageBody: event }));
    expect(await move(undelivered, false, hints)).toContain("1 messages moved");
    expect(await bodies(hints)).toEqual([event]);
  });
});
