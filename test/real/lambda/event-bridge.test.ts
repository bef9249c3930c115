import { randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { CreateQueueCommand, DeleteQueueCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ecrHosts } from "../../../functions/ingest/ecr.ts";
import { bundleFunctions } from "../../../infra/bundle.ts";
import { sqsClient } from "../../../lib/aws/sqs.ts";
import { repositoryTopic } from "../../../lib/core/topics.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { newDynamodb } from "../../contract/dynamodb-back-end.ts";
import { realAws } from "../../contract/real-aws.ts";
import { keyOf, leased, never, workItem } from "../../contract/state-back-end.ts";
import { untilDeadline } from "../../deadline.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";
import { ingestWorld, sample } from "../../unit/functions/ingest/ingest-world.ts";
import { addRuntime, type Runtime } from "./add-runtime.ts";
import { invokeAsync } from "./invoke-async.ts";
import { inMessage } from "./sqs-source.ts";
import { startFunction } from "./start-function.ts";

const [events, dynamodb, sqs] = [realAws("AWS"), realAws("DYNAMODB"), realAws("SQS")];
const ric = process.env["SLUICE_REAL_LAMBDA_RIC"] ?? "";
const account = "123456789012";
const patterns = join(import.meta.dirname, "../../../infra/lib");

describe.skipIf(events === undefined || dynamodb === undefined || sqs === undefined)(
  "EventBridge, where SLUICE_REAL_AWS, _DYNAMODB and _SQS name parts (npm run real -- up)",
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
    });
    afterAll(async () => {
      for (const client of [messages, delivered]) client.destroy();
      await rm(folder, { recursive: true });
    });

    /** moto reads only the service from a signature. */
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

    /** The events that a rule with the deployed pattern passes on, as its target gets them. */
    async function throughRule(pattern: string, entries: readonly object[]): Promise<readonly unknown[]> {
      const name = `sluice-${randomUUID()}`;
      const { QueueUrl = "" } = await delivered.send(new CreateQueueCommand({ QueueName: name }));
      await askEvents("PutRule", {
        Name: name,
        EventPattern: await readFile(join(patterns, `${pattern}.pattern.json`), "utf8"),
      });
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

    test("delivers pushes, deletions and replications that succeeded, and no other events of a registry", async () => {
      const taken = [
        event(),
        event({ "action-type": "DELETE" }),
        event({ "action-type": "REPLICATE" }, "ECR Replication Action"),
      ];
      const others = [event({ result: "FAILURE" }), event({}, "ECR Image Scan"), { ...event(), Source: "aws.s3" }];
      const found = await throughRule("ecr", [...others, ...taken]);
      expect(found).toHaveLength(3);
      expect(found).toMatchObject([
        { source: "aws.ecr", detail },
        { detail: { "action-type": "DELETE" } },
        { "detail-type": "ECR Replication Action" },
      ]);
    });

    const samples = [
      { pattern: "s3", taken: ["s3-created", "s3-deleted"], other: { "detail-type": "Object Tags Added" } },
      {
        pattern: "code-commit",
        taken: ["code-commit-updated"],
        other: { "detail-type": "CodeCommit Comment on Commit" },
      },
      { pattern: "custom", taken: ["custom"], other: { "detail-type": "Something Else" } },
    ];
    test.each(samples)(
      "delivers the documented events with the pattern $pattern, and no others",
      async ({ pattern, taken, other }) => {
        const all = await Promise.all(taken.map((name) => documented(name)));
        const found = await throughRule(pattern, [
          ...all,
          { ...all[0], Source: "aws.ecr" },
          { ...all[0], DetailType: other["detail-type"] },
        ]);
        expect(found).toMatchObject(
          all.map(({ Source, DetailType }) => ({ source: Source, "detail-type": DetailType })),
        );
        // What the rule lets through, ingest understands.
        using world = await ingestWorld({});
        for (const one of found) await world.ingest(one);
        expect(world.refused()).toBe(0);
      },
    );

    /** A sample of the documentation as `PutEvents` takes it. */
    async function documented(name: string) {
      const { source, "detail-type": DetailType, detail: of } = await sample(name);
      return { Source: source, DetailType, Detail: JSON.stringify(of) };
    }

    const runtimes: readonly (readonly [string, Runtime | undefined])[] = [
      ["our loop", { kind: "loop" }],
      ["aws-lambda-ric (SLUICE_REAL_LAMBDA_RIC)", ric === "" ? undefined : { kind: "ric", installedIn: ric }],
    ];
    for (const [name, runtime] of runtimes) {
      test.skipIf(runtime === undefined)(
        `a push wakes the source that follows it, with the bundle run by ${name}`,
        async () => {
          const table = await newDynamodb(state);
          const { QueueUrl = "" } = await messages.send(new CreateQueueCommand({ QueueName: randomUUID() }));
          const ingest = join(folder, randomUUID());
          await cp(join(folder, "ingest"), ingest, { recursive: true });
          if (runtime !== undefined) await addRuntime(ingest, runtime);
          const key = keyOf("web");
          const [host = ""] = ecrHosts(account, bus.region);
          const fence = await leased(table, key);
          await table.subscriptions.subscribe([repositoryTopic(host, "app")], fence, never);
          // The run that waited for it is over.
          await table.items.put(workItem(key, { version: 2, token: 1, started: 1, handled: 1 }), never);
          const lambda = await startFunction({
            name: "ingest",
            folder: ingest,
            handler: "index.handler",
            memoryMegabytes: 512,
            timeoutMs: 240_000,
            region: bus.region,
            env: {
              ...functionEnvironment,
              AWS_ACCESS_KEY_ID: "x",
              AWS_SECRET_ACCESS_KEY: "y",
              AWS_ENDPOINT_URL_DYNAMODB: state.endpoint ?? "",
              AWS_ENDPOINT_URL_SQS: queues.endpoint ?? "",
              SLUICE_TABLE: table.name,
              SLUICE_QUEUE_URLS: JSON.stringify({ default: QueueUrl }),
            },
          });
          try {
            const [pushed] = await throughRule("ecr", [event()]);
            const result = await invokeAsync(pushed, (hint) => inMessage(hint, lambda.invoke), 1, untilDeadline());
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
