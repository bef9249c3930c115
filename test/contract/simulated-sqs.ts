import { randomUUID } from "node:crypto";
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  type Message,
  ReceiveMessageCommand,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { z } from "zod";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { sqsClient, sqsDeadLetters, sqsVisibility, sqsWakeUps } from "../../lib/aws/sqs.ts";
import { parseWorkKey } from "../../lib/core/work-key.ts";
import { delayAttribute, faultySqs, type SqsFault } from "../doubles/faulty-sqs.ts";
import type { SeenRequest } from "../doubles/seen-request.ts";
import type { RealQueue } from "../unit/queue/simulator/real-queue.ts";
import { never } from "./state-back-end.ts";

const Letter = z.object({ key: z.string() });
const hiddenSeconds = 43_200;

/** The queues of one story: the adapters reach them over a wire on which `faultOf` happens, the story itself without. */
export async function simulatedSqs(
  connection: AwsConnection,
  faultOf: (request: SeenRequest) => SqsFault | undefined,
): Promise<RealQueue & AsyncDisposable> {
  const wire = await faultySqs(connection.endpoint ?? "", faultOf);
  const direct = sqsClient(connection);
  // What gets no answer is given up as soon as in Lambda.
  const through = sqsClient({ ...connection, endpoint: wire.url, attemptTimeoutMs: undefined });
  const create = async (): Promise<string> =>
    (await direct.send(new CreateQueueCommand({ QueueName: randomUUID() }))).QueueUrl ?? "";
  const [QueueUrl, lettersUrl] = [await create(), await create()];
  const { region } = connection;
  // The client goes where the queue's URL says.
  const overWire = (url: string) => ({ url: url.replace(connection.endpoint ?? "", wire.url), region });
  const hide = sqsVisibility(through, overWire(QueueUrl));
  const deadLetters = sqsDeadLetters(through, overWire(lettersUrl));

  const receive = async (url: string): Promise<readonly Message[]> => {
    const found: Message[] = [];
    for (;;) {
      const { Messages = [] } = await direct.send(
        new ReceiveMessageCommand({
          QueueUrl: url,
          MaxNumberOfMessages: 10,
          VisibilityTimeout: hiddenSeconds,
          MessageSystemAttributeNames: ["ApproximateReceiveCount"],
          MessageAttributeNames: [delayAttribute],
        }),
      );
      if (Messages.length === 0) return found;
      found.push(...Messages);
    }
  };
  return {
    wakeUps: sqsWakeUps(through, overWire(QueueUrl)),
    hide: (handle, forMs) => hide(handle, forMs, never),
    hiddenForMs(handle) {
      const seconds = wire.hiddenFor(handle);
      return seconds === undefined ? undefined : seconds * 1000;
    },
    async sendLetter(letter, onArrival) {
      try {
        await deadLetters.send(letter, never);
      } finally {
        for (const { Body = "" } of await receive(lettersUrl)) {
          onArrival(parseWorkKey(Letter.parse(JSON.parse(Body)).key));
        }
      }
    },
    receive: async () =>
      (await receive(QueueUrl)).map(({ Body = "", ReceiptHandle = "", Attributes, MessageAttributes }) => ({
        handle: ReceiptHandle,
        body: Body,
        delayMs: Number(MessageAttributes?.[delayAttribute]?.StringValue) * 1000,
        receives: Number(Attributes?.ApproximateReceiveCount),
      })),
    async show(ReceiptHandle) {
      try {
        await direct.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
      } catch (error) {
        // It was removed.
        if (!(error instanceof SQSServiceException)) throw error;
      }
    },
    async lose(ReceiptHandle) {
      await direct.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    },
    async removeBatch(handles) {
      const Entries = handles.map((ReceiptHandle, index) => ({ Id: `${index}`, ReceiptHandle }));
      try {
        // What is left over comes again; the event source does not try a second time.
        await through.send(new DeleteMessageBatchCommand({ QueueUrl: overWire(QueueUrl).url, Entries }));
      } catch (error) {
        if (!(error instanceof Error)) throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      for (const url of [QueueUrl, lettersUrl]) await direct.send(new DeleteQueueCommand({ QueueUrl: url }));
      for (const client of [direct, through]) client.destroy();
      await wire[Symbol.asyncDispose]();
    },
  };
}
