import { CreateClusterCommand } from "@aws-sdk/client-eks";
import { CreateKeyCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { CreateSecretCommand } from "@aws-sdk/client-secrets-manager";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AwsConnection, clientConfig } from "../../lib/aws/aws-connection.ts";
import { createStateTable } from "../../lib/aws/dynamodb/create-state-table.ts";
import { type DynamodbStores, openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/state-table.ts";
import { ecrLogin } from "../../lib/aws/ecr/ecr-login.ts";
import { parseClusterArn } from "../../lib/aws/eks/cluster-arn.ts";
import { describeCluster, eksClient } from "../../lib/aws/eks/eks-cluster-config.ts";
import { kmsDataKeys } from "../../lib/aws/kms-data-keys.ts";
import { unnamedKey } from "../../lib/aws/s3/artifact-keys.ts";
import { s3ArtifactCollection } from "../../lib/aws/s3/s3-artifact-collection.ts";
import { s3Artifacts } from "../../lib/aws/s3/s3-artifacts.ts";
import { s3Client } from "../../lib/aws/s3/s3-bucket.ts";
import { readSecret, secretsClient } from "../../lib/aws/secrets-manager.ts";
import { sqsClient, sqsWakeUps } from "../../lib/aws/sqs.ts";
import { digestOf } from "../../lib/core/digest.ts";
import { messageOf } from "../../lib/core/failure.ts";
import type { ArtifactCollection } from "../../lib/core/ports/artifact-collection.ts";
import type { ArtifactStore } from "../../lib/core/ports/artifact-store.ts";
import type { DataKeys, SealedDataKey } from "../../lib/core/ports/data-keys.ts";
import type { RegistryLogin } from "../../lib/core/ports/registry-login.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { type GuardedAws, guardedAws } from "../real/guarded-aws.ts";
import { realAws } from "./real-aws.ts";
import { keyOf, never, overdueItems } from "./state-back-end.ts";

/** Of everything that is made. */
const name = "guarded";
const bytes = new TextEncoder().encode("an artifact");
const cluster = parseClusterArn(`arn:aws:eks:eu-west-1:123456789012:cluster/${name}`);
const repository = {
  host: "123456789012.dkr.ecr.eu-west-1.amazonaws.com",
  repository: "web",
  cluster: "home",
  namespace: "apps",
};
let queueUrl = "";
let sealed: SealedDataKey = { sealedBy: "", ciphertext: new Uint8Array(), context: {} };

interface Use {
  readonly what: string;
  readonly use: (of: AwsConnection) => Promise<unknown>;
  /** All that it needs, in the order in which it asks. */
  readonly actions: readonly string[];
}

const uses: readonly Use[] = [
  {
    what: "a login to ECR",
    use: (of) => using(loginOf(of), (login) => login.credentials(repository, never)),
    actions: ["ecr:GetAuthorizationToken"],
  },
  {
    what: "a cluster's description",
    use: (of) => using(eksClient(of), (client) => describeCluster(client, cluster, never)),
    actions: ["eks:DescribeCluster"],
  },
  {
    what: "a secret",
    use: (of) => using(secretsClient(of), (client) => readSecret(client, { id: name, region: of.region }, never)),
    actions: ["secretsmanager:GetSecretValue"],
  },
  {
    what: "a data key",
    use: (of) =>
      using(dataKeysOf(of), (keys) =>
        keys.open(sealed, { kind: "installation", cluster: "c1", namespace: "apps" }, never),
      ),
    actions: ["kms:Decrypt"],
  },
  {
    what: "a wake-up",
    use: (of) =>
      using(sqsClient(of), (client) =>
        sqsWakeUps(client, { url: queueUrl, region: of.region }).send({ key: "home/g/K/ns/web" }, 0, never),
      ),
    actions: ["sqs:SendMessage"],
  },
  {
    what: "an artifact that is stored twice",
    use: (of) => withArtifacts(of, (store) => store.put(digestOf(bytes), bytes, never)),
    actions: ["s3:PutObject", "s3:GetObject"],
  },
  {
    what: "an artifact that is fetched",
    use: (of) => withArtifacts(of, (store) => store.get(digestOf(bytes), never)),
    actions: ["s3:GetObject"],
  },
  {
    what: "an artifact that is looked for",
    use: (of) => withArtifacts(of, (store) => store.has(digestOf(bytes), never)),
    actions: ["s3:GetObject"],
  },
  {
    what: "a work item of an unused table",
    use: (of) => withTable(of, ({ items }) => items.get(keyOf("web"), never)),
    actions: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"],
  },
  {
    what: "items that are overdue",
    use: (of) => withTable(of, ({ items }) => overdueItems(items, 0)),
    actions: ["dynamodb:GetItem", "dynamodb:Query"],
  },
  {
    what: "a collection of artifacts",
    use: (of) =>
      withTable(of, ({ records }) =>
        withCollection(of, async (artifacts) => {
          await records.digests(never);
          await artifacts.unnamed(never);
          await artifacts.keepUnnamed(new Map(), never);
          for await (const page of artifacts.list(never)) {
            for (const each of page) await artifacts.remove(each, never);
          }
        }),
      ),
    actions: ["dynamodb:GetItem", "dynamodb:Scan", "s3:GetObject", "s3:PutObject", "s3:ListBucket", "s3:DeleteObject"],
  },
];

async function using<Client extends { destroy(): void }, Result>(
  client: Client,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}

function loginOf(connection: AwsConnection): RegistryLogin & { destroy(): void } {
  const login = ecrLogin({ connection, clock: systemClock, isAllowed: () => true });
  return { ...login, destroy: () => login.close() };
}

function dataKeysOf(connection: AwsConnection): DataKeys & { destroy(): void } {
  const keys = kmsDataKeys({ connection, clock: systemClock, isAllowed: () => true });
  return { ...keys, destroy: () => keys.close() };
}

function withArtifacts<Result>(of: AwsConnection, work: (store: ArtifactStore) => Promise<Result>): Promise<Result> {
  return using(s3Client(of), (client) =>
    work(s3Artifacts({ bucket: { client, name, region: of.region }, prefix: "", clock: systemClock })),
  );
}

function withCollection<Result>(
  of: AwsConnection,
  work: (artifacts: ArtifactCollection) => Promise<Result>,
): Promise<Result> {
  return using(s3Client(of), (client) =>
    work(s3ArtifactCollection({ bucket: { client, name, region: of.region }, prefix: "", unnamedKey })),
  );
}

function withTable<Result>(of: AwsConnection, work: (stores: DynamodbStores) => Promise<Result>): Promise<Result> {
  return using(dynamodbClient(of), (client) =>
    work(openDynamodbStores({ client, name, region: of.region, clock: systemClock })),
  );
}

async function sealDataKey(client: KMSClient): Promise<SealedDataKey> {
  const { KeyMetadata: { Arn: sealedBy = "" } = {} } = await client.send(new CreateKeyCommand({}));
  const { CiphertextBlob: ciphertext = new Uint8Array() } = await client.send(
    new EncryptCommand({ KeyId: sealedBy, Plaintext: bytes }),
  );
  return { sealedBy, ciphertext, context: {} };
}

/** Everything that the uses use. */
async function makeAll(of: AwsConnection): Promise<void> {
  const described = { name: cluster.name, roleArn: "arn:aws:iam::123456789012:role/eks", resourcesVpcConfig: {} };
  await using(eksClient(of), (client) => client.send(new CreateClusterCommand(described)));
  const secret = { Name: name, SecretString: "hunter2" };
  await using(secretsClient(of), (client) => client.send(new CreateSecretCommand(secret)));
  sealed = await using(new KMSClient(clientConfig(of)), sealDataKey);
  const queue = new CreateQueueCommand({ QueueName: name });
  queueUrl = (await using(sqsClient(of), (client) => client.send(queue))).QueueUrl ?? "";
  const place = { CreateBucketConfiguration: { LocationConstraint: "eu-west-1" } } as const;
  await using(s3Client(of), (client) => client.send(new CreateBucketCommand({ Bucket: name, ...place })));
  await withArtifacts(of, (store) => store.put(digestOf(bytes), bytes, never));
  await using(dynamodbClient(of), (client) => createStateTable(client, name, never));
}

describe.skipIf(realAws("AWS") === undefined)(
  "AWS that checks signatures and policies, where SLUICE_REAL_AWS says that moto is installed (npm run real -- up)",
  () => {
    let aws: GuardedAws;
    beforeAll(async () => {
      aws = await guardedAws();
      await aws.unguarded(makeAll);
    });
    afterAll(() => aws[Symbol.asyncDispose]());

    test.each(uses)(
      "$what is refused for a role without rights, and allowed once the mends in the messages are followed",
      async ({ use, actions }) => {
        const allowed: string[] = [];
        await aws.allow();
        for (const action of actions) {
          const refused = await use(aws.connection).then(() => "done", messageOf);
          expect(refused).toContain(`${action} on `);
          expect(refused).toContain(`allow ${action} in the policy of the role and of the resource`);
          expect(refused).not.toContain("\n");
          allowed.push(action);
          await aws.allow(...allowed);
        }
        await use(aws.connection);
      },
    );

    test.each(uses)(
      "$what with an unknown key, a wrong secret or another session's token is refused with that reason",
      async ({ use, actions }) => {
        await aws.allow(...actions);
        for (const wrong of [
          { accessKeyId: "AKIANOBODY" },
          { secretAccessKey: "another" },
          { sessionToken: "another" },
        ]) {
          const credentials = { ...aws.credentials, ...wrong };
          const refused = await use({ ...aws.connection, credentials }).then(() => "done", messageOf);
          expect(refused).toMatch(/AWS does not accept the credentials .*; give the function a role, or log in again/);
          expect(refused).not.toContain(aws.credentials.secretAccessKey);
        }
      },
    );
  },
);
