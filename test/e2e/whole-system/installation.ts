import { randomBytes } from "node:crypto";
import { DeleteTableCommand } from "@aws-sdk/client-dynamodb";
import { CreateClusterCommand, DeleteClusterCommand, EKSClient, ResourceInUseException } from "@aws-sdk/client-eks";
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
} from "@aws-sdk/client-s3";
import { CreateSecretCommand, DeleteSecretCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { CreateQueueCommand, DeleteQueueCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { ecrHosts } from "../../../functions/ingest/ecr.ts";
import type { InstallationDocument } from "../../../functions/settings/installation.ts";
import { type AwsConnection, clientConfig } from "../../../lib/aws/aws-connection.ts";
import { createStateTable } from "../../../lib/aws/dynamodb/create-state-table.ts";
import { dynamodbClient } from "../../../lib/aws/dynamodb/state-table.ts";
import { s3Client } from "../../../lib/aws/s3/s3-bucket.ts";
import { sqsClient } from "../../../lib/aws/sqs.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { putInstallation } from "../../doubles/put-installation.ts";
import { addS3Account } from "../../real/eks/s3-account.ts";
import { routesOption } from "../../real/lambda/add-routes.ts";
import { ecrCertificate, frontOfEcr } from "./front-of-ecr.ts";
import { frontOfEks } from "./front-of-eks.ts";
import type { RealParts } from "./real-parts.ts";
import type { RegistryEvent } from "./registry-events.ts";
import { roleSession } from "./role-session.ts";

/** What a function is started with. */
export interface FunctionSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly memoryMegabytes: number;
  readonly timeoutMs: number;
}

/** What a deployment of Sluice stands on, made for one suite. */
export interface Installation extends AsyncDisposable {
  readonly functionOf: (name: string) => FunctionSettings;
  /** The queue in front of ingest, where there is one: the client of `sqs` reaches it too. */
  readonly hints?: { readonly queueUrl: string; readonly put: (event: RegistryEvent) => Promise<void> };
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  /** Under which sources name the registry. */
  readonly registryHost: string;
  /** Who the functions are to the cluster. */
  readonly username: string;
}

export interface InstallationOptions {
  /** Part of every name that is created, so that names of two runs differ. */
  readonly name: string;
  /** The namespace whose sources may use the role's login to the registry. */
  readonly namespace: string;
  /** The address at which the functions reach DynamoDB, if it is not its own. */
  readonly dynamodb?: string;
}

export async function install(
  parts: RealParts,
  { name, namespace, dynamodb = parts.dynamodb.endpoint ?? "" }: InstallationOptions,
  signal: AbortSignal,
): Promise<Installation> {
  await using made = new AsyncDisposableStack();
  const { eks } = parts;
  const { account, region } = eks.cluster;
  const session = await roleSession(eks.sts, eks.role, name);
  await makeTable(parts.dynamodb, name, made, signal);
  const [registryHost = ""] = ecrHosts(account, region);
  const repositories = { [namespace]: [`${registryHost}/*`] };
  const document = await makeBucket(parts.s3, name, { arn: eks.clusterArn, repositories }, made);
  await addS3Account(parts.s3, session);
  await makeSecret(parts.aws, name, made);
  await describeInMoto(parts, made);
  const sqs = sqsClient(parts.sqs);
  made.defer(() => sqs.destroy());
  const queueUrl = await makeQueue(sqs, name, made);
  const deadLetters = await makeQueue(sqs, `${name}-dead`, made);
  const { server, tls } = await readKubeconfig({ file: eks.kubeconfig, env: {}, homeDir: "/" });
  const front = await frontOfEks(parts.aws.endpoint ?? "", { name: eks.cluster.name, server, ca: tls.ca ?? "" });
  made.use(front);
  const ecr = made.use(await frontOfEcr(parts.registry));
  const env = {
    // Without its session token, which the S3 gateway refuses.
    AWS_ACCESS_KEY_ID: session.accessKeyId,
    AWS_SECRET_ACCESS_KEY: session.secretAccessKey,
    AWS_ENDPOINT_URL: parts.aws.endpoint ?? "",
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
    AWS_ENDPOINT_URL_SQS: parts.sqs.endpoint ?? "",
    AWS_ENDPOINT_URL_S3: parts.s3.endpoint ?? "",
    AWS_ENDPOINT_URL_EKS: front.url,
    SLUICE_TABLE: name,
    SLUICE_QUEUE_URLS: JSON.stringify({ default: queueUrl }),
    SLUICE_DEAD_LETTER_QUEUE_URL: deadLetters,
    SLUICE_BUCKET: name,
    ...document,
    SLUICE_INSTALLATION_KEY_SECRET: name,
    // A tenant cannot bring an authority for ECR: the system has to trust it.
    NODE_EXTRA_CA_CERTS: ecrCertificate,
    SLUICE_TEST_ROUTES: JSON.stringify({ [`${registryHost}:443`]: ecr.port }),
    NODE_OPTIONS: routesOption,
  };
  const kept = made.move();
  return {
    functionOf: () => ({ env, memoryMegabytes: 1_024, timeoutMs: 60_000 }),
    sqs,
    queueUrl,
    registryHost,
    username: `sluice:${name}`,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function makeTable(of: AwsConnection, name: string, made: AsyncDisposableStack, signal: AbortSignal) {
  const client = dynamodbClient(of);
  made.defer(() => client.destroy());
  await createStateTable(client, name, signal);
  made.defer(async () => void (await client.send(new DeleteTableCommand({ TableName: name }))));
}

/** The bucket of the artifacts, with the document of an installation of this cluster; answers what the environment says of it. */
async function makeBucket(
  of: AwsConnection,
  Bucket: string,
  cluster: InstallationDocument["clusters"][number],
  made: AsyncDisposableStack,
) {
  const client = s3Client(of);
  made.defer(() => client.destroy());
  await client.send(new CreateBucketCommand({ Bucket }));
  made.defer(async () => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
    await Promise.all(Contents.map(({ Key }) => client.send(new DeleteObjectCommand({ Bucket, Key }))));
    await client.send(new DeleteBucketCommand({ Bucket }));
  });
  return await putInstallation(client, Bucket, { version: 1, clusters: [cluster] });
}

async function makeSecret(of: AwsConnection, Name: string, made: AsyncDisposableStack) {
  const client = new SecretsManagerClient(clientConfig(of));
  made.defer(() => client.destroy());
  await client.send(new CreateSecretCommand({ Name, SecretString: randomBytes(32).toString("hex") }));
  made.defer(async () => {
    await client.send(new DeleteSecretCommand({ SecretId: Name, ForceDeleteWithoutRecovery: true }));
  });
}

/** moto has to know the cluster; the details that it invents are replaced on the way. */
export async function describeInMoto({ aws, eks }: Pick<RealParts, "aws" | "eks">, made: AsyncDisposableStack) {
  const client = new EKSClient(clientConfig(aws));
  made.defer(() => client.destroy());
  const { name } = eks.cluster;
  try {
    await client.send(new CreateClusterCommand({ name, roleArn: eks.role, resourcesVpcConfig: {} }));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error; // left there by a run that was cut off
  }
  made.defer(async () => void (await client.send(new DeleteClusterCommand({ name }))));
}

async function makeQueue(client: SQSClient, QueueName: string, made: AsyncDisposableStack): Promise<string> {
  const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName }));
  made.defer(async () => void (await client.send(new DeleteQueueCommand({ QueueUrl }))));
  return QueueUrl;
}
