import { randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { CreateQueueCommand, DeleteQueueCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ecrHosts } from "../../../functions/ingest.ts";
import { bundleFunctions } from "../../../infra/bundle.ts";
import { sqsClient } from "../../../lib/aws/sqs/sqs-client.ts";
import { repositoryEdge } from "../../../lib/core/edge-names.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { newDynamodb } from "../../contract/dynamodb-back-end.ts";
import { realAws } from "../../contract/real-aws.ts";
import { keyOf, leased, never, workItem } from "../../contract/state-back-end.ts";
import { addRuntime, type Runtime } from "./add-runtime.ts";
import { invokeAsync } from "./invoke-async.ts";
import { startFunction } from "./start-function.ts";

const [events, dynamodb, sqs] = [realAws("AWS"), realAws("DYNAMODB"), realAws("SQS")];
const ric = process.env["SLUICE_REAL_LAMBDA_RIC"] ?? "";
const account = "123456789012";
/** The machine is shared by many, and to bundle is work. */
const timeout = 120_000;
const pattern = join(import.meta.dirname, "../../../infra/ecr-push.pattern.json");

describe.skipIf(events === undefined || dynamodb === undefined || sqs === undefined)(
  "EventBridge, where SLUICE_REAL_AWS, _DYNAMODB and _SQS name parts (npm run real -- up)",
  { timeout },
  () => {
    const [bus, state, queues] = [events ?? { region: "" }, dynamodb ?? { region: "" }, sqs ?? { region: "" }];
    let folder: string;
    let messages: SQSClient;
    let delivered: SQSClient;

    beforeAll(async () => {
      const cache = join(import.meta.dirname, "../../../.cache");
      await mkdir(cache, { recursive: true });
      folder = await mkdtemp(join(cache, "lambda-"));
      await bundleFunctions(folder);
      messages = sqsClient(queues);
      delivered = sqsClient(bus);
    }, timeout);
    afterAll(async () => {
      for (const client of [messages, delivered]) client.destroy();
      await rm(folder, { recursive: true });
    });

    /** moto looks at nothing of a signature but the service that it is for. */
    async function askEvents(action: string, body: object): Promise<void> {
      const scope = `x/20260101/${bus.region}/events/aws4_request`;
      const response = await fetch(bus.endpoint ?? "", {
        method: "POST",
        headers: {
          authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=x`,
          "content-type": "application/x-amz-json-1.1",
          "x-amz-target": `AWSEvents.${action}`,
        },
        body: JSON.stringify(body),
      });
      expect([action, response.status, await response.text()]).toEqual([action, 200, expect.any(String)]);
    }

    /** What a rule with the pattern that is deployed lets through of these events, as its target gets it. */
    async function throughRule(entries: readonly object[]): Promise<readonly unknown[]> {
      const name = `sluice-${randomUUID()}`;
      const { QueueUrl = "" } = await delivered.send(new CreateQueueCommand({ QueueName: name }));
      await askEvents("PutRule", { Name: name, EventPattern: await readFile(pattern, "utf8") });
      const Targets = [{ Id: "queue", Arn: `arn:aws:sqs:${bus.region}:${account}:${name}` }];
      await askEvents("PutTargets", { Rule: name, Targets });
      try {
        await askEvents("PutEvents", { Entries: entries });
        const { Messages = [] } = await delivered.send(
          new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
        );
        return Messages.map(({ Body = "" }): unknown => JSON.parse(Body));
      } finally {
        await askEvents("RemoveTargets", { Rule: name, Ids: ["queue"] });
        await askEvents("DeleteRule", { Name: name });
        await delivered.send(new DeleteQueueCommand({ QueueUrl }));
      }
    }

    const detail = { "action-type": "PUSH", result: "SUCCESS", "repository-name": "app", "image-tag": "latest" };
    const event = (of: object = {}, DetailType = "ECR Image Action") => ({
      Source: "aws.ecr",
      DetailType,
      Detail: JSON.stringify({ ...detail, ...of }),
    });

    test("hands over pushes that went well, and nothing else of a registry", async () => {
      const others = [event({ "action-type": "DELETE" }), event({ result: "FAILURE" }), event({}, "ECR Image Scan")];
      const found = await throughRule([...others, event(), { ...event(), Source: "aws.s3" }]);
      expect(found).toMatchObject([{ source: "aws.ecr", "detail-type": "ECR Image Action", detail }]);
    });

    const runtimes: readonly (readonly [string, Runtime | undefined])[] = [
      ["our loop", { kind: "loop" }],
      ["aws-lambda-ric (SLUICE_REAL_LAMBDA_RIC)", ric === "" ? undefined : { kind: "ric", installedIn: ric }],
    ];
    for (const [name, runtime] of runtimes) {
      test.skipIf(runtime === undefined)(
        `a push wakes the source that listens, the bundle run by ${name}`,
        async () => {
          const table = await newDynamodb(state);
          const { QueueUrl = "" } = await messages.send(new CreateQueueCommand({ QueueName: randomUUID() }));
          const ingest = join(folder, randomUUID());
          await cp(join(folder, "ingest"), ingest, { recursive: true });
          if (runtime !== undefined) await addRuntime(ingest, runtime);
          const key = keyOf("web");
          const [host = ""] = ecrHosts(account, bus.region);
          const fence = await leased(table, key);
          await table.edges.listen([repositoryEdge(host, "app")], fence, never);
          // The run that listened is over.
          await table.items.put(workItem(key, { version: 2, token: 1, started: 1, handled: 1 }), never);
          const lambda = await startFunction({
            name: "ingest",
            folder: ingest,
            handler: "index.handler",
            memoryMegabytes: 512,
            timeoutMs: 30_000,
            region: bus.region,
            env: {
              AWS_ACCESS_KEY_ID: "x",
              AWS_SECRET_ACCESS_KEY: "y",
              AWS_ENDPOINT_URL_DYNAMODB: state.endpoint ?? "",
              AWS_ENDPOINT_URL_SQS: queues.endpoint ?? "",
              SLUICE_TABLE: table.name,
              SLUICE_QUEUE_URL: QueueUrl,
            },
          });
          try {
            const [pushed] = await throughRule([event()]);
            // EventBridge names the account, which moto leaves out.
            const whole = { ...z.looseObject({}).parse(pushed), account };
            const result = await invokeAsync(whole, lambda.invoke, 1, AbortSignal.timeout(60_000));
            expect({ ...result, output: lambda.output() }).toMatchObject({ kind: "returned" });
            expect(await table.items.get(key, never)).toMatchObject({ requested: 2, started: 1 });
            const { Messages = [] } = await messages.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 2 }));
            expect(Messages.map(({ Body }) => Body)).toEqual([JSON.stringify({ key: formatWorkKey(key) })]);
          } finally {
            await lambda.stop();
            await messages.send(new DeleteQueueCommand({ QueueUrl }));
            await table.close();
          }
        },
      );
    }
  },
);
