import { CfnResource, CustomResourceProviderBase, Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import {
  type Attribute,
  AttributeType,
  BillingMode,
  ProjectionType,
  Table,
  TableEncryption,
} from "aws-cdk-lib/aws-dynamodb";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { stateTable, ttlAttribute } from "../../lib/aws/dynamodb/table.ts";
import { fixedLogicalId } from "./fixed-logical-id.ts";

export interface StateProps {
  /** Encrypts table, bucket and secret. Default: keys of AWS. */
  readonly encryptionKey: IKey | undefined;
  /** Default: retained. */
  readonly removalPolicy: RemovalPolicy;
  /** Whether custom resources are left out, and with them what empties the bucket. */
  readonly emulated: boolean;
  /** How long the log of what empties the bucket keeps messages. */
  readonly logRetention: RetentionDays;
  /** Encrypts that log. Default: CloudWatch's own encryption. */
  readonly logEncryptionKey: IKey | undefined;
}

/** What outlives a deploy: the table of the state, the bucket of the artifacts, the installation key. */
export class State extends Construct {
  readonly table: Table;
  readonly bucket: Bucket;
  readonly installationKey: Secret;
  /** ARN of the role that empties the bucket before it is deleted; undefined where it is retained. */
  readonly emptiedBy: string | undefined;

  constructor(
    scope: Construct,
    id: string,
    { emulated, encryptionKey, logEncryptionKey, logRetention, removalPolicy }: StateProps,
  ) {
    super(scope, id);
    const [partitionKey, sortKey] = keys(stateTable.KeySchema);
    this.table = new Table(this, "Table", {
      partitionKey,
      sortKey,
      billingMode: BillingMode[stateTable.BillingMode],
      timeToLiveAttribute: ttlAttribute,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: removalPolicy !== RemovalPolicy.DESTROY,
      encryption: encryptionKey === undefined ? undefined : TableEncryption.CUSTOMER_MANAGED,
      encryptionKey,
      removalPolicy,
    });
    for (const { IndexName, KeySchema, Projection } of stateTable.GlobalSecondaryIndexes) {
      const [indexPartitionKey, indexSortKey] = keys(KeySchema);
      this.table.addGlobalSecondaryIndex({
        indexName: IndexName,
        partitionKey: indexPartitionKey,
        sortKey: indexSortKey,
        projectionType: ProjectionType[Projection.ProjectionType],
      });
    }
    this.bucket = new Bucket(this, "Artifacts", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: true,
      encryption: encryptionKey === undefined ? BucketEncryption.S3_MANAGED : BucketEncryption.KMS,
      encryptionKey,
      bucketKeyEnabled: encryptionKey === undefined ? undefined : true,
      lifecycleRules: [
        {
          id: "uploads-and-old-versions",
          abortIncompleteMultipartUploadAfter: Duration.days(1),
          noncurrentVersionExpiration: Duration.days(30),
          expiredObjectDeleteMarker: true,
        },
      ],
      removalPolicy,
      // CloudFormation deletes no bucket that holds objects or versions.
      autoDeleteObjects: removalPolicy === RemovalPolicy.DESTROY && !emulated,
    });
    this.emptiedBy = emptierOf(this, { retention: logRetention, encryptionKey: logEncryptionKey });
    this.installationKey = hexadecimalSecret(
      this,
      "InstallationKey",
      "Sluice: the key under which digests of Secrets are kept. Never replace it, restore it together with the table",
      encryptionKey,
      RemovalPolicy.RETAIN,
    );
    Validations.of(this.bucket).acknowledge({
      id: "AwsSolutions::AwsSolutions-S1",
      reason:
        "Only the reconcile roles may write, and each object is named by its digest: data events of CloudTrail tell more",
    });
    fixedLogicalId(scope, this.table, "Table");
    fixedLogicalId(scope, this.bucket, "Artifacts");
    fixedLogicalId(scope, this.installationKey, "InstallationKey");
  }
}

interface LogKept {
  readonly retention: RetentionDays;
  readonly encryptionKey: IKey | undefined;
}

/** The role of the function that the CDK makes for `autoDeleteObjects`, one in each stack. */
function emptierOf(scope: Construct, kept: LogKept): string | undefined {
  const provider = Stack.of(scope).node.tryFindChild("Custom::S3AutoDeleteObjectsCustomResourceProvider");
  if (!(provider instanceof CustomResourceProviderBase)) return undefined;
  Validations.of(provider).acknowledge({
    id: "AwsSolutions::AwsSolutions-IAM4",
    reason: "The CDK's own function, which writes its log by the policy of AWS; the bucket's policy lets it delete",
  });
  logInStack(provider, kept);
  return provider.roleArn;
}

/** Gives the CDK's function a log group of the stack: the one that Lambda makes would stay when the stack is deleted. */
function logInStack(provider: CustomResourceProviderBase, kept: LogKept): void {
  const handler = provider.node.tryFindChild("Handler");
  if (!CfnResource.isCfnResource(handler) || provider.node.tryFindChild("Log") !== undefined) return;
  const log = new LogGroup(provider, "Log", { ...kept, removalPolicy: RemovalPolicy.DESTROY });
  handler.addPropertyOverride("LoggingConfig", { LogGroup: log.logGroupName });
  // Lines that Lambda delivers late would make the group again.
  provider.addToRolePolicy({ Effect: "Deny", Action: "logs:CreateLogGroup", Resource: "*" });
}

/** 64 hexadecimal digits, 256 bits. Whatever changes here lets CloudFormation make another one, so it stays as it is. */
export function hexadecimalSecret(
  scope: Construct,
  id: string,
  description: string,
  encryptionKey: IKey | undefined,
  removalPolicy = RemovalPolicy.DESTROY,
): Secret {
  const secret = new Secret(scope, id, {
    description,
    generateSecretString: {
      passwordLength: 64,
      excludeUppercase: true,
      excludePunctuation: true,
      excludeCharacters: "ghijklmnopqrstuvwxyz",
      includeSpace: false,
      requireEachIncludedType: false,
    },
    encryptionKey,
    removalPolicy,
  });
  Validations.of(secret).acknowledge({
    id: "AwsSolutions::AwsSolutions-SMG4",
    reason: "It is not a credential of a service: digests that were made with the old one would no longer match",
  });
  return secret;
}

type KeySchema = readonly [{ readonly AttributeName: string }, { readonly AttributeName: string }];

function keys([hash, range]: KeySchema): readonly [Attribute, Attribute] {
  return [attribute(hash.AttributeName), attribute(range.AttributeName)];
}

const types = { S: AttributeType.STRING, N: AttributeType.NUMBER };

function attribute(name: string): Attribute {
  const definition = stateTable.AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
  if (definition === undefined) throw new Error(`lib/aws/dynamodb/table.ts does not define the attribute "${name}"`);
  return { name, type: types[definition.AttributeType] };
}
