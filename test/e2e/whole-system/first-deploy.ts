import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { DeleteObjectCommand, HeadBucketCommand, ListObjectVersionsCommand } from "@aws-sdk/client-s3";
import { GetQueueAttributesCommand, GetQueueUrlCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { readInstallation } from "../../../functions/settings/installation.ts";
import { dynamodbClient } from "../../../lib/aws/dynamodb/state-table.ts";
import { stateTable } from "../../../lib/aws/dynamodb/table.ts";
import { readObject } from "../../../lib/aws/s3/read-object.ts";
import { s3Client } from "../../../lib/aws/s3/s3-bucket.ts";
import { readSecret, secretsClient } from "../../../lib/aws/secrets-manager.ts";
import { sqsClient } from "../../../lib/aws/sqs.ts";
import { addRoutes } from "../../real/lambda/add-routes.ts";
import { addRuntime } from "../../real/lambda/add-runtime.ts";
import { askMoto, type DeployedFunction } from "./ask-moto.ts";
import { type Deployed, deployIntoMoto } from "./deploy-into-moto.ts";
import { installedByCdk } from "./install-by-cdk.ts";
import type { RealParts } from "./real-parts.ts";
import { whatIsThere } from "./what-is-there.ts";
import { openWorld } from "./world.ts";

const hasCdk = existsSync(join(import.meta.dirname, "../../../infra/node_modules/aws-cdk"));
const { signal } = new AbortController();
const deployMs = 300_000;

const QueueUrls = z.object({ default: z.string() });
const Redrive = z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() });

/** The stack of infra/ in an emulator, and a push that comes through it to a real control plane. */
export function firstDeploy(real: () => RealParts): void {
  describe.skipIf(!hasCdk)("the first deploy, where infra/ is installed (node cli/install.js infra)", () => {
    const name = `deploy-${randomUUID().slice(0, 8)}`;
    const opened = new AsyncDisposableStack();
    let account: string;
    let region: string;
    let deployed: Deployed;
    let functions: ReadonlyMap<string, DeployedFunction>;
    beforeAll(async () => {
      const { cluster, clusterArn } = real().eks;
      ({ account, region } = cluster);
      const repository = { arn: `arn:aws:ecr:${region}:${account}:repository/${name}`, namespaces: [name] };
      deployed = opened.use(await deployIntoMoto(region, { clusters: [clusterArn], repositories: [repository] }));
      functions = await askMoto(deployed.aws).functions();
    }, deployMs);
    afterAll(() => opened.disposeAsync(), deployMs);

    const variables = (of: string) => functions.get(of)?.Environment.Variables ?? {};
    const urlOf = (arn: string) => `https://sqs.${region}.amazonaws.com/${account}/${arn.split(":").at(-1)}`;
    const wakeUpsUrl = () => QueueUrls.parse(JSON.parse(variables("reconcile")["SLUICE_QUEUE_URLS"] ?? "")).default;
    const attributes = async (url: string) => {
      using client = closing(sqsClient(deployed.aws));
      const QueueUrl = (await client.of.send(new GetQueueUrlCommand({ QueueName: url.split("/").at(-1) }))).QueueUrl;
      const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
      return (await client.of.send(command)).Attributes ?? {};
    };

    test("creates the functions, each with an existing table, installation and queues", async () => {
      expect([...functions.keys()].toSorted()).toEqual(["collect", "ingest", "reconcile", "sweep"]);
      for (const { Handler, MemorySize, Runtime } of functions.values()) {
        expect({ Handler, Runtime }).toEqual({ Handler: "index.handler", Runtime: "nodejs24.x" });
        expect(MemorySize).toBeGreaterThanOrEqual(512);
      }
      using table = closing(dynamodbClient(deployed.aws));
      const { Table } = await table.of.send(
        new DescribeTableCommand({ TableName: variables("reconcile")["SLUICE_TABLE"] }),
      );
      expect(Table?.KeySchema).toEqual(stateTable.KeySchema);
      expect(Table?.GlobalSecondaryIndexes).toMatchObject(stateTable.GlobalSecondaryIndexes);
      for (const of of ["ingest", "sweep", "reconcile"]) {
        expect(variables(of)["SLUICE_TABLE"]).toBe(Table?.TableName);
        expect(
          (await attributes(QueueUrls.parse(JSON.parse(variables(of)["SLUICE_QUEUE_URLS"] ?? "")).default))["QueueArn"],
        ).toContain("WakeUps");
      }
      expect((await attributes(variables("reconcile")["SLUICE_DEAD_LETTER_QUEUE_URL"] ?? ""))["QueueArn"]).toContain(
        "Parked",
      );
    });

    test("creates the bucket, the key of the installation, and the document that the functions read", async () => {
      const { SLUICE_BUCKET: Bucket, SLUICE_INSTALLATION_KEY_SECRET: id = "", ...env } = variables("reconcile");
      using s3 = closing(s3Client(deployed.aws));
      await s3.of.send(new HeadBucketCommand({ Bucket, ExpectedBucketOwner: account }));
      expect(env["SLUICE_BUCKET_ACCOUNT"]).toBe(account);
      using secrets = closing(secretsClient(deployed.aws));
      expect((await readSecret(secrets.of, { id, region }, signal)).reveal()).toMatch(/^[0-9a-f]{64}$/);
      const bucket = { client: s3.of, name: env["SLUICE_INSTALLATION_BUCKET"] ?? "", region };
      const how = { maxBytes: 1_000_000, keep: true };
      const document = await readObject(bucket, env["SLUICE_INSTALLATION_KEY"] ?? "", how, signal);
      expect(document?.digest).toBe(env["SLUICE_INSTALLATION_DIGEST"]);
      expect(readInstallation(Buffer.from(document?.bytes ?? []).toString())).toMatchObject({
        clusters: [
          {
            arn: real().eks.clusterArn,
            network: "default",
            repositories: { [name]: [`${account}.dkr.ecr.${region}.amazonaws.com/${name}`] },
          },
        ],
      });
    });

    test("connects ingest to the hints and reconcile to the wake-ups, each with dead letters and partial replies", async () => {
      const mappings = await askMoto(deployed.aws).mappings();
      const seen = await Promise.all(
        mappings.map(async ({ EventSourceArn, FunctionArn, ...mapping }) => {
          const { RedrivePolicy = "", VisibilityTimeout, Policy } = await attributes(urlOf(EventSourceArn));
          const { deadLetterTargetArn, maxReceiveCount } = Redrive.parse(JSON.parse(RedrivePolicy));
          expect((await attributes(urlOf(deadLetterTargetArn)))["QueueArn"]).toBe(deadLetterTargetArn);
          expect(Policy).toContain('"Deny"');
          const [of = ""] = [...functions].find(([, { FunctionName }]) => FunctionArn.includes(FunctionName)) ?? [];
          // Lambda refuses a queue that shows its messages again before the function has ended.
          expect(Number(VisibilityTimeout)).toBeGreaterThanOrEqual(functions.get(of)?.Timeout ?? Number.NaN);
          expect(maxReceiveCount).toBeGreaterThan(1);
          return {
            of,
            replies: mapping.FunctionResponseTypes,
            queue: /Sluice-Sluice([A-Za-z]+)-/.exec(EventSourceArn)?.[1],
          };
        }),
      );
      expect(seen.toSorted((a, b) => a.of.localeCompare(b.of))).toEqual([
        { of: "ingest", replies: ["ReportBatchItemFailures"], queue: "Hints" },
        { of: "reconcile", replies: ["ReportBatchItemFailures"], queue: "WakeUpsDefault" },
      ]);
    });

    test("routes pushes, CodeCommit events and own events to the hints, the minute's event to sweep, and the daily one to collect", async () => {
      const rules = await askMoto(deployed.aws).rules();
      const scheduled = (rate: string) => rules.find(({ ScheduleExpression }) => ScheduleExpression === rate);
      const byEvent = rules.filter(({ EventPattern }) => EventPattern !== undefined);
      expect([rules.length, byEvent.length]).toEqual([5, 3]);
      const target = { Input: "{}", DeadLetterConfig: expect.anything() };
      expect(scheduled("rate(1 minute)")).toMatchObject({
        targets: [{ Arn: expect.stringContaining("Sweep"), ...target }],
      });
      expect(scheduled("rate(1 day)")).toMatchObject({
        targets: [{ Arn: expect.stringContaining("Collect"), ...target }],
      });
      const toHints = { Arn: expect.stringContaining("Hints"), DeadLetterConfig: expect.anything() };
      for (const { targets } of byEvent) {
        expect(targets).toMatchObject([{ ...toHints, RetryPolicy: expect.anything() }]);
      }
    });

    test("a push reaches the cluster: through the bus, the hints, ingest, the wake-ups and reconcile", async () => {
      const moto = askMoto(deployed.aws);
      const mappings = await moto.mappings();
      for (const { UUID } of mappings) await moto.disableMapping(UUID);
      const hints = mappings.find(({ EventSourceArn }) => EventSourceArn.includes("Hints"));
      // What was uploaded is what is started, with Lambda's runtime beside it.
      for (const { folder } of deployed.bundles) {
        await addRuntime(folder, { kind: "loop" });
        await addRoutes(folder);
      }
      const install = installedByCdk({
        aws: deployed.aws,
        functions,
        hintsQueueUrl: urlOf(hints?.EventSourceArn ?? ""),
        wakeUpsQueueUrl: wakeUpsUrl(),
        putEvent: (event) => moto.putEvent(event),
      });
      const bundles = new Map(deployed.bundles.map((bundle) => [bundle.name, bundle]));
      await using world = await openWorld({ parts: real(), bundles, title: "deploy", name, environments: 1, install });
      await world.follow();
      const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "pushed", namespace: name } };
      const push = async (by: string) => {
        await world.applied(await world.push({ "config.yaml": JSON.stringify({ ...config, data: { by } }) }));
        expect(await world.get("ConfigMap", "pushed")).toMatchObject({ data: { by } });
      };
      // The first may also be found by the source's next try, since there was nothing to pull before. The interval is ten minutes.
      await push("crane");
      await push("crane, again");
      await world.soon(
        async () => world.functions.log(),
        (log) => expect(log).toContain('"message":"change announced"'),
      );
    });

    test("is destroyed completely except for the installation key, which outlives every stack", {
      timeout: deployMs,
    }, async () => {
      const made = await whatIsThere(deployed.aws);
      const services = new Set(made.map((one) => one.replace(/ .*/s, "")));
      expect([...services].toSorted()).toEqual([
        "cloudformation",
        "dynamodb",
        "events",
        "iam",
        "lambda",
        "logs",
        "s3",
        "secretsmanager",
        "sns",
        "sqs",
      ]);
      await emptied(deployed.aws, variables("reconcile")["SLUICE_BUCKET"] ?? "");
      await deployed.destroy();
      expect(await whatIsThere(deployed.aws)).toEqual([
        expect.stringMatching(/^secretsmanager Sluice-SluiceInstallationKey-/),
      ]);
    });
  });
}

/** What the custom resource of the CDK does under removalPolicy DESTROY, which the emulator leaves out. */
async function emptied(aws: Deployed["aws"], Bucket: string): Promise<void> {
  using s3 = closing(s3Client(aws));
  const { DeleteMarkers = [], Versions = [] } = await s3.of.send(new ListObjectVersionsCommand({ Bucket }));
  for (const { Key, VersionId } of [...Versions, ...DeleteMarkers]) {
    await s3.of.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
  }
}

/** Ends a client's connections with its scope. */
function closing<Client extends { destroy(): void }>(of: Client): Disposable & { readonly of: Client } {
  return { of, [Symbol.dispose]: () => of.destroy() };
}
