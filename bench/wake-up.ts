import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { CreateBucketCommand, DeleteBucketCommand, DeleteObjectCommand } from "@aws-sdk/client-s3";
import { CreateSecretCommand, DeleteSecretCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { CreateQueueCommand, DeleteQueueCommand } from "@aws-sdk/client-sqs";
import { z } from "zod";
import { bundleFunctions } from "../infra/bundle.ts";
import { type AwsConnection, clientConfig } from "../lib/aws/aws-connection.ts";
import { s3Client } from "../lib/aws/s3/s3-bucket.ts";
import { sqsClient, sqsWakeUps } from "../lib/aws/sqs.ts";
import type { WakeUps } from "../lib/core/ports/wake-ups.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { realAws } from "../test/contract/real-aws.ts";
import { functionEnvironment } from "../test/doubles/function-environment.ts";
import { putInstallation } from "../test/doubles/put-installation.ts";
import { addRuntime } from "../test/real/lambda/add-runtime.ts";
import { feedFromSqs } from "../test/real/lambda/sqs-source.ts";
import { type LambdaFunction, startFunction } from "../test/real/lambda/start-function.ts";
import { type Figure, figure } from "./figure.ts";

const warmRounds = 30;
const coldRounds = 10;
const timeoutMs = 30_000;
/** The log line of the handler for a wake-up of a kind that Sluice does not reconcile. */
const StartLine = z.object({ time: z.string(), message: z.string(), key: z.string() });

/**
 * From the moment a wake-up is sent to the moment the reconcile bundle starts on it: through ElasticMQ, the event source and the
 * runtime API, to a process that waits for it (warm) or has to be started first (cold, with the reads of its document and secret).
 * Needs `SLUICE_REAL_SQS` and `SLUICE_REAL_AWS` (`npm run real -- up`).
 */
export async function wakeUp(): Promise<readonly Figure[]> {
  const [queues, aws] = [realAws("SQS"), realAws("AWS")];
  if (queues === undefined || aws === undefined) {
    process.stderr.write(
      "wakeUp is left out: SLUICE_REAL_SQS and SLUICE_REAL_AWS name no parts (npm run real -- up)\n",
    );
    return [];
  }
  await using opened = new AsyncDisposableStack();
  const secret = await makeSecret(aws, opened);
  const document = await makeDocument(aws, opened);
  const client = sqsClient(queues);
  opened.defer(() => client.destroy());
  const QueueName = `sluice-bench-${randomUUID()}`;
  const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName }));
  opened.defer(async () => void (await client.send(new DeleteQueueCommand({ QueueUrl }))));
  const lambda = await startReconcile(queues, aws, { queue: QueueUrl, secret, document });
  opened.defer(() => lambda.stop());
  const stop = new AbortController();
  const fed = feedFromSqs(
    {
      client,
      queueUrl: QueueUrl,
      queueArn: "arn:aws:sqs:::bench",
      region: queues.region,
      batchSize: 1,
      visibilitySeconds: 60,
    },
    lambda.invoke,
    stop.signal,
  );
  opened.defer(async () => {
    stop.abort();
    await fed;
  });
  const wakeUps = sqsWakeUps(client, { url: QueueUrl, region: queues.region });
  const round = () => toStart(wakeUps, lambda);
  // The first starts the process.
  await round();
  const warm: number[] = [];
  for (let number = 0; number < warmRounds; number++) warm.push(await round());
  const cold: number[] = [];
  for (let number = 0; number < coldRounds; number++) {
    await endProcess(lambda);
    cold.push(await round());
  }
  return [figure("wake-up to handler start, warm", "ms", warm), figure("wake-up to handler start, cold", "ms", cold)];
}

async function makeSecret(connection: AwsConnection, opened: AsyncDisposableStack): Promise<string> {
  const client = new SecretsManagerClient(clientConfig(connection));
  const Name = `sluice-bench-${randomUUID()}`;
  await client.send(new CreateSecretCommand({ Name, SecretString: "00".repeat(32) }));
  opened.defer(async () => {
    await client.send(new DeleteSecretCommand({ SecretId: Name, ForceDeleteWithoutRecovery: true }));
    client.destroy();
  });
  return Name;
}

/** The document of an installation in a bucket of its own; answers what the environment says of it. */
async function makeDocument(connection: AwsConnection, opened: AsyncDisposableStack) {
  const client = s3Client(connection);
  const Bucket = `sluice-bench-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket }));
  const variables = await putInstallation(client, Bucket, { version: 1, clusters: [] });
  opened.defer(async () => {
    await client.send(new DeleteObjectCommand({ Bucket, Key: variables.SLUICE_INSTALLATION_KEY }));
    await client.send(new DeleteBucketCommand({ Bucket }));
    client.destroy();
  });
  return variables;
}

async function startReconcile(
  queues: AwsConnection,
  aws: AwsConnection,
  { queue, secret, document }: { readonly queue: string; readonly secret: string; readonly document: object },
): Promise<LambdaFunction> {
  const bundles = await bundleFunctions(join(import.meta.dirname, "../.cache/bench/wake-up"));
  const bundle = bundles.find(({ name }) => name === "reconcile");
  if (bundle === undefined) throw new Error("there is no function reconcile");
  await addRuntime(bundle.folder, { kind: "loop" });
  const env = {
    ...functionEnvironment,
    AWS_ACCESS_KEY_ID: "x",
    AWS_SECRET_ACCESS_KEY: "y",
    AWS_ENDPOINT_URL: aws.endpoint ?? "",
    AWS_ENDPOINT_URL_SQS: queues.endpoint ?? "",
    SLUICE_QUEUE_URLS: JSON.stringify({ default: queue }),
    ...document,
    SLUICE_INSTALLATION_KEY_SECRET: secret,
    SLUICE_LOG_LEVEL: "debug",
  };
  const { region } = queues;
  const { name, folder } = bundle;
  return startFunction({ name, folder, handler: "index.handler", env, memoryMegabytes: 1_024, timeoutMs, region });
}

/** Sends one and waits for the handler's line; both clocks are this machine's. */
async function toStart(wakeUps: WakeUps, lambda: LambdaFunction): Promise<number> {
  const signal = AbortSignal.timeout(timeoutMs);
  const key = `bench/none/Nothing/bench/${randomUUID()}`;
  const sentAt = Date.now();
  await wakeUps.send({ key }, 0, signal);
  for (;;) {
    const line = lambda
      .output()
      .split("\n")
      .find((text) => text.includes(key));
    if (line !== undefined) return Date.parse(StartLine.parse(JSON.parse(line)).time) - sentAt;
    await systemClock.sleep(5, signal);
  }
}

/** Ends the process, as Lambda does when it ends an environment: the next event starts another. */
async function endProcess(lambda: LambdaFunction): Promise<void> {
  const { pid } = lambda;
  const last = pid();
  if (last === undefined) return;
  process.kill(-last, "SIGKILL");
  const signal = AbortSignal.timeout(timeoutMs);
  while (pid() === last) await systemClock.sleep(5, signal);
}
