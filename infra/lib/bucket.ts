import { Aws, RemovalPolicy, Resource, Stack, Token, Validations } from "aws-cdk-lib";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { BlockPublicAccess, Bucket, BucketEncryption, CfnBucket, type IBucket } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { isBucketName } from "../../functions/settings/allowed-buckets.ts";
import { acknowledgeWildcard, allow } from "./access.ts";
import { checkPulling, hintRetries } from "./pushes.ts";
import s3Events from "./s3.pattern.json" with { type: "json" };
import type { SluiceService } from "./service.ts";

export interface SluiceBucketProps {
  readonly sluice: SluiceService;
  /**
   * An existing bucket of this account and region. Exactly one of `bucket`, `bucketArn` and `newBucketName` is given. A bucket that this
   * app makes gets its notifications to EventBridge.
   */
  readonly bucket?: IBucket;
  /** `arn:aws:s3:::<name>`, an existing bucket of this account and region, whose notifications to EventBridge are on. */
  readonly bucketArn?: string;
  /** The name of a bucket that is made here, private and with notifications, and retained when the stack is deleted. */
  readonly newBucketName?: string;
  /** The clusters whose objects may read it, or their ARNs. They are added to the Sluice before. */
  readonly clusters: readonly (string | { readonly arn: string })[];
  /** The namespaces whose objects may read it. */
  readonly namespaces: readonly string[];
}

/** The rights that a Bucket needs on an S3 bucket: to list it, and to get its objects. */
const readActions = { bucket: ["s3:ListBucket"], objects: ["s3:GetObject"] } as const;

/** As it is written, where the bucket of this app has one: what the CDK answers of it is known only while the stack is deployed. */
function nameOf({ bucketName, node }: IBucket): string {
  const { defaultChild } = node;
  return (defaultChild instanceof CfnBucket ? defaultChild.bucketName : undefined) ?? bucketName;
}

/** A bucket of S3 that Buckets with `provider: aws` of some namespaces may read with a Sluice's rights, and whose changes wake it. */
export class SluiceBucket extends Construct {
  readonly bucket: IBucket;

  constructor(scope: Construct, id: string, props: SluiceBucketProps) {
    super(scope, id);
    const { sluice, clusters, namespaces } = props;
    this.bucket = this.named(props);
    const { encryptionKey } = this.bucket;
    const name = nameOf(this.bucket);
    if (Token.isUnresolved(name)) {
      throw new Error(
        `${this.node.path}: the name of the bucket is not known before the deployment, and the settings of the functions need it: give the bucket a bucketName, or write bucketArn`,
      );
    }
    if (!isBucketName(name))
      throw new Error(`${this.node.path}: "${name}" is not a valid bucket name: write arn:aws:s3:::<name>`);
    checkPulling(this, { clusters, namespaces });
    if (props.bucket !== undefined && Resource.isOwnedResource(this.bucket))
      this.bucket.enableEventBridgeNotification();
    const { account, region } = Stack.of(sluice);
    new Rule(this, "Changes", {
      description: `Sluice: what changes in the bucket ${name} is a hint`,
      eventPattern: {
        source: s3Events.source,
        detailType: s3Events["detail-type"],
        account: [account],
        region: [region],
        detail: { bucket: { name: [name] } },
      },
      targets: [new SqsQueue(sluice.hintsQueue, { deadLetterQueue: sluice.undeliveredEvents, ...hintRetries })],
    });
    const arns = clusters.map((cluster) => (typeof cluster === "string" ? cluster : cluster.arn));
    for (const cluster of arns) for (const namespace of namespaces) sluice.allowBucket(cluster, namespace, name);
    const arn = (partition: string): string => props.bucketArn ?? `arn:${partition}:s3:::${name}`;
    const networks = new Set(sluice.clusters.filter(({ arn }) => arns.includes(arn)).map(({ network }) => network));
    for (const role of [...networks].map((network) => sluice.reconcileRole(network))) {
      role.addToPrincipalPolicy(allow("", [...readActions.bucket], [arn(Aws.PARTITION)]));
      role.addToPrincipalPolicy(allow("", [...readActions.objects], [`${arn(Aws.PARTITION)}/*`]));
      const reason = "A Bucket takes the objects that it finds, whatever they are called";
      for (const partition of ["<AWS::Partition>", "aws"]) acknowledgeWildcard(role, `${arn(partition)}/*`, reason);
      if (encryptionKey !== undefined) role.addToPrincipalPolicy(allow("", ["kms:Decrypt"], [encryptionKey.keyArn]));
    }
  }

  private named({ bucket, bucketArn, newBucketName }: SluiceBucketProps): IBucket {
    const given = [bucket, bucketArn, newBucketName].filter((value) => value !== undefined);
    if (given.length !== 1) {
      throw new Error(
        `${this.node.path} names ${given.length} buckets: give exactly one of bucket, bucketArn and newBucketName`,
      );
    }
    if (bucket !== undefined) return bucket;
    if (newBucketName !== undefined) {
      const made = new Bucket(this, "Bucket", {
        bucketName: newBucketName,
        blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
        encryption: BucketEncryption.S3_MANAGED,
        enforceSSL: true,
        versioned: true,
        removalPolicy: RemovalPolicy.RETAIN,
      });
      // Without the function by which the CDK would do it.
      const { defaultChild } = made.node;
      if (defaultChild instanceof CfnBucket) {
        defaultChild.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } };
      }
      Validations.of(made).acknowledge({
        id: "AwsSolutions::AwsSolutions-S1",
        reason: "Data events of CloudTrail record who reads it, and the revisions of its Bucket what was read",
      });
      return made;
    }
    const arn = bucketArn ?? "";
    if (!Token.isUnresolved(arn) && !/^arn:aws[\w-]*:s3:::[^/:]+$/.test(arn)) {
      throw new Error(`${this.node.path}: "${arn}" is not the ARN of an S3 bucket: write arn:aws:s3:::<name>`);
    }
    return Bucket.fromBucketArn(this, "Bucket", arn);
  }
}
