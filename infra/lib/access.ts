import { Stack, Validations } from "aws-cdk-lib";
import { type IRole, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import type { IConstruct } from "constructs";
import { actionOnNotificationTarget } from "../../functions/settings/allowed-notification-targets.ts";
import { partsOf } from "../../functions/settings/allowed-targets.ts";
import { dueIndex } from "../../lib/aws/dynamodb/table.ts";
import { artifactPrefix, unnamedKey } from "../../lib/aws/s3/artifact-keys.ts";
import type { InstallationDocument } from "./installation.ts";
import type { Queues } from "./queues.ts";
import type { State } from "./state.ts";

/**
 * What the partitions of the state table begin with that functions with few rights reach (`lib/aws/dynamodb/table.ts` lists all). That
 * the adapters keep to it: `test/unit/aws/dynamodb/bound-partitions.test.ts`.
 */
const partitionPrefixes = {
  layout: "layout",
  objects: "obj#",
  subscribers: "edge#",
  receivers: "hook#",
  clusters: "cluster#",
  sightings: "seen#",
} as const;

/** What functions are given access to. */
export interface Shared {
  readonly state: State;
  readonly queues: Queues;
  readonly document: InstallationDocument;
  /** The secret from which the path of the admission webhook is made; undefined without the webhook. */
  readonly admissionSecret: ISecret | undefined;
}

/** What a function may do with one thing: the variables that name the thing to it, and the statements that let it. */
export interface Access {
  readonly environment: Readonly<Record<string, string>>;
  readonly statements: readonly PolicyStatement[];
}

/** The accesses by name. A function has those of its row (functions.ts), for the queue of its own network. */
export const accesses = {
  /** Clusters, repositories and settings. */
  document: ({ document }) => ({
    environment: document.environment(),
    statements: [allow("ReadInstallation", ["s3:GetObject"], [document.arn()])],
  }),
  /** A request is an update of a work item; IAM knows partitions and no sort keys. The first call to a new table writes its layout. */
  requests: ({ state }) => ({
    environment: { SLUICE_TABLE: state.table.tableName },
    statements: [
      allowPartitions(
        "RequestReconciles",
        ["dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:UpdateItem"],
        state,
        "objects",
      ),
      allowPartitions("CheckLayout", ["dynamodb:GetItem", "dynamodb:PutItem"], state, "layout"),
    ],
  }),
  /** Who follows what is announced, and whether an object exists. */
  subscribers: ({ state }) => ({
    environment: {},
    statements: [
      allowPartitions("FindSubscribers", ["dynamodb:Query"], state, "subscribers"),
      allowPartitions("FindObjects", ["dynamodb:GetItem"], state, "sightings"),
    ],
  }),
  /** Which clusters are on hold or full. */
  clusterStates: ({ state }) => ({
    environment: {},
    statements: [allowPartitions("ReadClusterStates", ["dynamodb:Query"], state, "clusters")],
  }),
  receivers: ({ state }) => ({
    environment: {},
    statements: [allowPartitions("FindReceivers", ["dynamodb:Query"], state, "receivers")],
  }),
  dueItems: ({ state }) => ({
    environment: {},
    statements: [allow("FindDueItems", ["dynamodb:Query"], [`${state.table.tableArn}/index/${dueIndex}`])],
  }),
  /** Leases, inventories, the ledger of owners, artifact records, history. */
  runs: ({ state }) => ({
    environment: { SLUICE_TABLE: state.table.tableName },
    statements: [
      allow(
        "KeepState",
        [
          "dynamodb:BatchGetItem",
          "dynamodb:BatchWriteItem",
          "dynamodb:ConditionCheckItem",
          "dynamodb:DeleteItem",
          "dynamodb:GetItem",
          "dynamodb:PutItem",
          "dynamodb:Query",
          "dynamodb:UpdateItem",
        ],
        [state.table.tableArn],
      ),
    ],
  }),
  wakeUps: ({ queues }) => {
    const arns = Object.values(queues.wakeUps).map(({ queueArn }) => queueArn);
    return {
      environment: { SLUICE_QUEUE_URLS: wakeUpUrls(queues) },
      statements: [allow("SendWakeUps", ["sqs:SendMessage"], arns)],
    };
  },
  /** A run hides its wake-up for as long as its lease lasts. */
  ownWakeUps: ({ queues }, network) => ({
    environment: { SLUICE_NETWORK: network },
    statements: [allow("HideWakeUps", ["sqs:ChangeMessageVisibility"], [wakeUpsOf(queues, network).queueArn])],
  }),
  /** Whose clusters a function is for. */
  ownNetwork: (_shared, network) => ({ environment: { SLUICE_NETWORK: network }, statements: [] }),
  /** Only the name, which metrics have as their dimension. */
  tableName: ({ state }) => ({ environment: { SLUICE_TABLE: state.table.tableName }, statements: [] }),
  admissionSecret: ({ admissionSecret, state }) => {
    if (admissionSecret === undefined)
      throw new Error(`${state.node.path} has no admission secret: write admission: true`);
    return {
      environment: { SLUICE_ADMISSION_SECRET: admissionSecret.secretArn },
      statements: [allow("ReadAdmissionSecret", ["secretsmanager:GetSecretValue"], [admissionSecret.secretArn])],
    };
  },
  /** A run tells what has happened, where there is a function that delivers it. */
  notifications({ queues }, network): Access {
    const queue = queues.notifications[network];
    return queue === undefined
      ? { environment: {}, statements: [] }
      : {
          environment: { SLUICE_NOTIFICATION_QUEUE_URL: queue.queueUrl },
          statements: [allow("SendNotifications", ["sqs:SendMessage"], [queue.queueArn])],
        };
  },
  /** A notification that was not delivered comes again later. */
  ownNotifications({ queues }, network) {
    const queue = notificationsOf(queues, network);
    return {
      environment: { SLUICE_NETWORK: network, SLUICE_NOTIFICATION_QUEUE_URL: queue.queueUrl },
      statements: [allow("HideNotifications", ["sqs:ChangeMessageVisibility"], [queue.queueArn])],
    };
  },
  /** Only the names by which a cluster's owner is known: no right to table or queues. */
  ownerName: ({ state, queues }) => ({
    environment: { SLUICE_TABLE: state.table.tableName, SLUICE_QUEUE_URLS: wakeUpUrls(queues) },
    statements: [],
  }),
  parked: ({ queues }) => ({
    environment: { SLUICE_DEAD_LETTER_QUEUE_URL: queues.parked.queueUrl },
    statements: [allow("TellOfParkedObjects", ["sqs:SendMessage"], [queues.parked.queueArn])],
  }),
  artifacts: ({ state }) => ({
    environment: { SLUICE_BUCKET: state.bucket.bucketName, SLUICE_BUCKET_ACCOUNT: Stack.of(state).account },
    statements: [
      allow(
        "KeepArtifacts",
        ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"],
        [state.bucket.arnForObjects(`${artifactPrefix}*`)],
      ),
      // Without it S3 answers that access is denied where an object is missing.
      allow("SeeWhatIsMissing", ["s3:ListBucket"], [state.bucket.bucketArn]),
    ],
  }),
  /** The artifacts that any source names. There is no index of them, since a daily scan costs less. */
  artifactRecords: ({ state }) => ({
    environment: {},
    statements: [
      allow("ReadRecords", ["dynamodb:Scan"], [state.table.tableArn]),
      allowPartitions("CheckLayout", ["dynamodb:GetItem"], state, "layout"),
    ],
  }),
  /** It deletes no version: what it has deleted can be brought back until the bucket's lifecycle rule removes old versions. */
  unnamedArtifacts: ({ state }) => ({
    environment: { SLUICE_BUCKET: state.bucket.bucketName, SLUICE_BUCKET_ACCOUNT: Stack.of(state).account },
    statements: [
      allow("ListArtifacts", ["s3:ListBucket"], [state.bucket.bucketArn]),
      allow("DeleteArtifacts", ["s3:DeleteObject"], [state.bucket.arnForObjects(`${artifactPrefix}*`)]),
      allow("KeepUnnamed", ["s3:GetObject", "s3:PutObject"], [state.bucket.arnForObjects(unnamedKey)]),
    ],
  }),
  installationKey: ({ state }) => ({
    environment: { SLUICE_INSTALLATION_KEY_SECRET: state.installationKey.secretArn },
    statements: [allow("ReadInstallationKey", ["secretsmanager:GetSecretValue"], [state.installationKey.secretArn])],
  }),
} satisfies Record<string, (shared: Shared, network: string) => Access>;

export type AccessName = keyof typeof accesses;

/** An empty `sid` is left out: the CDK then makes one statement of those with the same actions. */
export function allow(sid: string, actions: readonly string[], resources: readonly string[]): PolicyStatement {
  return new PolicyStatement({
    sid: sid === "" ? undefined : sid,
    actions: [...actions],
    resources: [...resources],
  });
}

/** Allows actions on the rows of the state table whose partitions hold this, and on no others. */
function allowPartitions(
  sid: string,
  actions: readonly string[],
  { table }: State,
  what: keyof typeof partitionPrefixes,
): PolicyStatement {
  const prefix = partitionPrefixes[what];
  const statement = allow(sid, actions, [table.tableArn]);
  statement.addCondition("ForAllValues:StringLike", {
    "dynamodb:LeadingKeys": [prefix.endsWith("#") ? `${prefix}*` : prefix],
  });
  // Without it a request that names no key would pass the condition.
  statement.addCondition("Null", { "dynamodb:LeadingKeys": "false" });
  return statement;
}

/**
 * Lets a role open data keys that this KMS key has sealed, and nothing else with the key.
 *
 * @param key as SOPS names it: the ARN of a key or an alias, and `+<ARN of a role>` where that role uses it
 */
export function mayDecrypt(role: IRole, key: string): void {
  const [arn = "", assumed] = key.split("+");
  if (assumed !== undefined) {
    role.addToPrincipalPolicy(allow("", ["sts:AssumeRole"], [assumed]));
    return;
  }
  const [, place, alias] = /^(.*:)(alias\/.*)$/.exec(arn) ?? [];
  if (place === undefined || alias === undefined) {
    role.addToPrincipalPolicy(allow("", ["kms:Decrypt"], [arn]));
    return;
  }
  // IAM knows no resource of an alias, only which one a request has named.
  const keys = `${place}key/*`;
  const statement = allow("", ["kms:Decrypt"], [keys]);
  statement.addCondition("StringEquals", { "kms:RequestAlias": alias });
  role.addToPrincipalPolicy(statement);
  acknowledgeWildcard(role, keys, "Only requests that name the alias are allowed");
}

/**
 * Lets a role describe this cluster of EKS, or assume the role that logs in to it. The cluster itself decides which rights the role has
 * there.
 *
 * @param target as the installation lists it: the ARN of a cluster, and `+<ARN of a role>` where that role enters it
 */
export function mayEnter(role: IRole, target: string): void {
  const { arn, role: assumed } = partsOf(target);
  role.addToPrincipalPolicy(
    assumed === undefined ? allow("", ["eks:DescribeCluster"], [arn]) : allow("", ["sts:AssumeRole"], [assumed]),
  );
}

/** Tells cdk-nag why a role has a resource with a `*`, as cdk-nag writes that resource. */
export function acknowledgeWildcard(role: IConstruct, resource: string, reason: string): void {
  Validations.of(role).acknowledge({ id: `AwsSolutions::AwsSolutions-IAM5[Resource::${resource}]`, reason });
}

/** The URLs by network, as the functions read them. */
function wakeUpUrls(queues: Queues): string {
  const urls = Object.entries(queues.wakeUps).map(([network, { queueUrl }]) => [network, queueUrl] as const);
  return Stack.of(queues).toJsonString(Object.fromEntries(urls));
}

export function notificationsOf(queues: Queues, network: string): Queues["parked"] {
  const queue = queues.notifications[network];
  if (queue === undefined) {
    throw new Error(`${queues.node.path} has no queue of notifications for the network "${network}"`);
  }
  return queue;
}

/** Lets a role read the metrics of these regions. IAM knows no resource of a metric. */
export function mayReadMetrics(role: IRole, regions: readonly string[]): void {
  if (regions.length === 0) return;
  const statement = allow("", ["cloudwatch:GetMetricData"], ["*"]);
  statement.addCondition("StringEquals", { "aws:RequestedRegion": [...new Set(regions)].toSorted() });
  role.addToPrincipalPolicy(statement);
  acknowledgeWildcard(role, "*", "GetMetricData knows no resources; only listed regions are allowed");
}

/** Lets a role send to what notifications of an installation may go to: one action on this one topic, bus or queue. */
export function mayNotify(role: IRole, target: string): void {
  role.addToPrincipalPolicy(allow("", [actionOnNotificationTarget(target)], [target]));
}

export function wakeUpsOf(queues: Queues, network: string): Queues["parked"] {
  const queue = queues.wakeUps[network];
  if (queue === undefined) throw new Error(`${queues.node.path} has no queue for the network "${network}"`);
  return queue;
}
