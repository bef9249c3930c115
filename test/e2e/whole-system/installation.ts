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
import { ecrHosts } from "../../../functions/ingest.ts";
import { type AwsConnection, clientConfig } from "../../../lib/aws/aws-connection.ts";
import { createStateTable } from "../../../lib/aws/dynamodb/create-state-table.ts";
import { dynamodbClient } from "../../../lib/aws/dynamodb/dynamodb-client.ts";
import { s3Client } from "../../../lib/aws/s3/s3-client.ts";
import { sqsClient } from "../../../lib/aws/sqs/sqs-client.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { addS3Account } from "../../real/eks/s3-account.ts";
import { routesOption } from "../../real/lambda/add-routes.ts";
import { ecrCertificate, frontOfEcr } from "./front-of-ecr.ts";
import { frontOfEks } from "./front-of-eks.ts";
import type { RealParts } from "./real-parts.ts";
import { roleSession } from "./role-session.ts";

/** What a deployment of Sluice stands on, made for one suite. */
export interface Installation extends AsyncDisposable {
  /** Of every function. */
  readonly env: Readonly<Record<string, string>>;
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  /** Under which sources name the registry. */
  readonly registryHost: string;
  /** Who the functions are to the cluster. */
  readonly username: string;
}

export interface InstallationOptions {
  /** Of all that is made: nobody else's. */
  readonly name: string;
  /** The namespace whose sources may use the role's login to the registry. */
  readonly namespace: string;
  /** Where the functions find DynamoDB, should it not be where it is. */
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
  await makeBucket(parts.s3, name, made);
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
  const [registryHost = ""] = ecrHosts(account, region);
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
    SLUICE_QUEUE_URL: queueUrl,
    SLUICE_DEAD_LETTER_QUEUE_URL: deadLetters,
    SLUICE_BUCKET: name,
    SLUICE_CLUSTER: eks.clusterArn,
    SLUICE_INSTALLATION_KEY_SECRET: name,
    SLUICE_REPOSITORIES: JSON.stringify({ [namespace]: [`${registryHost}/*`] }),
    // A tenant cannot bring an authority for ECR: the system has to trust it.
    NODE_EXTRA_CA_CERTS: ecrCertificate,
    SLUICE_TEST_ROUTES: JSON.stringify({ [`${registryHost}:443`]: ecr.port }),
    NODE_OPTIONS: routesOption,
  };
  const kept = made.move();
  return {
    env,
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

async function makeBucket(of: AwsConnection, Bucket: string, made: AsyncDisposableStack) {
  const client = s3Client(of);
  made.defer(() => client.destroy());
  await client.send(new CreateBucketCommand({ Bucket }));
  made.defer(async () => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
    await Promise.all(Contents.map(({ Key }) => client.send(new DeleteObjectCommand({ Bucket, Key }))));
    await client.send(new DeleteBucketCommand({ Bucket }));
  });
}

async function makeSecret(of: AwsConnection, Name: string, made: AsyncDisposableStack) {
  const client = new SecretsManagerClient(clientConfig(of));
  made.defer(() => client.destroy());
  await client.send(new CreateSecretCommand({ Name, SecretString: randomBytes(32).toString("hex") }));
  made.defer(async () => {
    await client.send(new DeleteSecretCommand({ SecretId: Name, ForceDeleteWithoutRecovery: true }));
  });
}

/** moto has to know the cluster; what it makes up about it is replaced on the way. */
async function describeInMoto({ aws, eks }: RealParts, made: AsyncDisposableStack) {
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
