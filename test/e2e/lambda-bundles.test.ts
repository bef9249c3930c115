import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { CreateQueueCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ecrHosts } from "../../functions/ingest/ecr.ts";
import { bundleFunctions } from "../../infra/bundle.ts";
import { createStateTable } from "../../lib/aws/dynamodb/create-state-table.ts";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/state-table.ts";
import { sqsClient } from "../../lib/aws/sqs.ts";
import { formatWorkKey, type WorkKey } from "../../lib/core/work-key.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { realAws } from "../contract/real-aws.ts";
import { never, workItem } from "../contract/state-back-end.ts";
import { faultyWire } from "../doubles/faulty-wire.ts";
import { installationVariables } from "../doubles/put-installation.ts";

const dynamodb = realAws("DYNAMODB");
const sqs = realAws("SQS");

const account = "123456789012";
const key: WorkKey = {
  cluster: `arn:aws:eks:${dynamodb?.region}:${account}:cluster/prod`,
  group: "source.toolkit.fluxcd.io",
  kind: "OCIRepository",
  namespace: "apps",
  name: "web",
};

describe.skipIf(dynamodb === undefined || sqs === undefined)(
  "the bundles, if SLUICE_REAL_DYNAMODB and SLUICE_REAL_SQS name real parts (npm run real -- up)",
  () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "sluice-lambda-"));
      await bundleFunctions(folder);
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    test("an event of a registry wakes the source; its run waits for a cluster that cannot be described", async () => {
      const [state, queues] = [dynamodb ?? { region: "" }, sqs ?? { region: "" }];
      const [tables, messages] = [dynamodbClient(state), sqsClient(queues)];
      const name = `sluice-${randomUUID()}`;
      await createStateTable(tables, name, never);
      const stores = openDynamodbStores({ client: tables, name, region: state.region, clock: systemClock });
      const [host = ""] = ecrHosts(account, state.region);
      // As an earlier run has left it.
      const lease = { holder: "earlier", renewals: 0 };
      await stores.items.put(workItem(key, { requested: 0, token: 1, lease }), never);
      await stores.subscriptions.subscribe([`repo#${host}/app`], { key, token: 1 }, never);
      await stores.items.put(workItem(key, { version: 2, requested: 0, token: 1 }), never);
      const { QueueUrl: queue = "" } = await messages.send(new CreateQueueCommand({ QueueName: randomUUID() }));
      const document = JSON.stringify({ version: 1, clusters: [{ arn: key.cluster }] });
      // Secrets Manager has the installation's key, S3 its document, EKS does not have the cluster.
      await using wire = await faultyWire(undefined, (request) => {
        const type = { "content-type": "application/x-amz-json-1.1" };
        if (request.headers["x-amz-target"] === "secretsmanager.GetSecretValue") {
          return { status: 200, headers: type, body: JSON.stringify({ SecretString: "00".repeat(32) }) };
        }
        if (request.url?.includes("/installation.json") === true) {
          return { status: 200, headers: { "content-length": String(document.length) }, body: document };
        }
        const headers = { "content-type": "application/json", "x-amzn-errortype": "ResourceNotFoundException" };
        return { status: 404, headers, body: JSON.stringify({ message: "No cluster found" }) };
      });
      const env = {
        AWS_REGION: state.region,
        AWS_ACCESS_KEY_ID: "x",
        AWS_SECRET_ACCESS_KEY: "y",
        AWS_ENDPOINT_URL: wire.url,
        AWS_ENDPOINT_URL_DYNAMODB: state.endpoint ?? "",
        AWS_ENDPOINT_URL_SQS: queues.endpoint ?? "",
        SLUICE_TABLE: name,
        SLUICE_QUEUE_URLS: JSON.stringify({ default: queue }),
        SLUICE_DEAD_LETTER_QUEUE_URL: queue,
        SLUICE_BUCKET: "sluice-artifacts",
        ...installationVariables("sluice-assets", document),
        SLUICE_INSTALLATION_KEY_SECRET: "installation-key",
      };
      const receive = async () => {
        const command = new ReceiveMessageCommand({ QueueUrl: queue, WaitTimeSeconds: 2, VisibilityTimeout: 60 });
        return (await messages.send(command)).Messages?.[0];
      };

      const detail = { "action-type": "PUSH", result: "SUCCESS", "repository-name": "app", "image-tag": "latest" };
      const push = { source: "aws.ecr", "detail-type": "ECR Image Action", account, region: state.region, detail };
      const hint = { messageId: "1", receiptHandle: "1", body: JSON.stringify(push) };
      const ingested = await invoke(folder, "ingest", { Records: [hint] }, env);
      expect(ingested.answer).toEqual({ batchItemFailures: [] });
      expect(await stores.items.get(key, never)).toMatchObject({ requested: 1, handled: 0 });
      const message = await receive();
      expect(JSON.parse(message?.Body ?? "")).toEqual({ key: formatWorkKey(key) });

      const record = { messageId: "1", receiptHandle: message?.ReceiptHandle, body: message?.Body };
      const { answer, log } = await invoke(folder, "reconcile", { Records: [record] }, env);
      expect(answer).toEqual({ batchItemFailures: [] });
      expect(log).toMatch(
        /^\{"outcome":"unreachable",.*"kind":"OCIRepository".*"ReconcilesFailed":1,"_aws":\{.*"Namespace":"Sluice".*\}$/m,
      );
      expect(log).toContain("eks:DescribeCluster on cluster prod: it does not exist in region");
      const item = await stores.items.get(key, never);
      expect(item).toMatchObject({ requested: 1, handled: 1, attempts: 0, lease: undefined, phase: "Active" });
      expect(item?.dueAt).toBeGreaterThan(0);
      tables.destroy();
      messages.destroy();
    });
  },
);

/** One invocation in a process of its own: what the handler answered, and what it logged. */
async function invoke(folder: string, name: string, event: unknown, env: Readonly<Record<string, string>>) {
  const entry = pathToFileURL(join(folder, name, "index.mjs")).href;
  const script = `const { handler } = await import(${JSON.stringify(entry)});
    const answer = await handler(${JSON.stringify(event)}, { getRemainingTimeInMillis: () => 60_000 });
    process.stdout.write(JSON.stringify(answer ?? null) + "\\n", () => process.exit());`;
  const options = { env: { ...env }, cwd: folder };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options);
  const lines = stdout.trimEnd().split("\n");
  const answer: unknown = JSON.parse(lines.at(-1) ?? "");
  return { answer, log: lines.slice(0, -1).join("\n") };
}
