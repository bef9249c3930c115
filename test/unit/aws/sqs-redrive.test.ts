import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sqsClient } from "../../../lib/aws/sqs.ts";
import { sqsDeadLetterQueue } from "../../../lib/aws/sqs-redrive.ts";
import { deadlineMs } from "../../deadline.ts";
import { faultyWire } from "../../doubles/faulty-wire.ts";

const region = "eu-west-1";
const credentials = { accessKeyId: "x", secretAccessKey: "y" };

test.each([
  ["Notifications.fifo", { MessageGroupId: "g", MessageDeduplicationId: "letter-1" }],
  ["WakeUps", { MessageGroupId: "g" }],
])("a letter that is moved back to %s keeps its group, and a FIFO queue gets its id", async (name, told) => {
  const sent: unknown[] = [];
  await using wire = await faultyWire(undefined, (_, _count, body) => {
    sent.push(JSON.parse(body.toString()));
    const answer = { MessageId: "copy", MD5OfMessageBody: createHash("md5").update("{}").digest("hex") };
    const headers = { "content-type": "application/x-amz-json-1.0" };
    return { status: 200, headers, body: JSON.stringify(answer) };
  });
  const client = sqsClient({ region, endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs });
  try {
    const queue = sqsDeadLetterQueue(client, { url: `${wire.url}/123456789012/DeadLetters.fifo`, region });
    const to = `${wire.url}/123456789012/${name}`;
    const letter = { id: "letter-1", body: "{}", group: "g" };
    expect(await queue.send(letter, to, new AbortController().signal)).toBe("copy");
    expect(sent).toEqual([{ QueueUrl: to, MessageBody: "{}", ...told }]);
  } finally {
    client.destroy();
  }
});
