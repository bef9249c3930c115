import { CfnResource, Duration, PhysicalName, RemovalPolicy, Size, Stack } from "aws-cdk-lib";
import { Effect, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import {
  Alias,
  Architecture,
  Code,
  EventSourceMapping,
  Function,
  FunctionUrlAuthType,
  RecursiveLoop,
  Runtime,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { ReconcileSize } from "../../functions/settings/reconcile-size.ts";
import { type AccessName, accesses, acknowledgeWildcard, allow, type Shared } from "./access.ts";
import type { Network } from "./networks.ts";
import { bundleFolder } from "./package-files.ts";
import type { ServiceFunction } from "./service.ts";

/** What starts a function: messages of a queue, a schedule, a custom resource of a stack, or a request to its URL. */
type Trigger = "hints" | "wake-ups" | "notifications" | "every minute" | "every day" | "custom resource" | "web";

interface FunctionRow {
  /** Default: by the property `reconcile` of `Sluice`. */
  readonly memoryMiB?: number;
  readonly timeoutSeconds: number;
  readonly trigger: Trigger;
  readonly access: readonly AccessName[];
  /** For a function with a URL: the number of concurrent runs; further requests are answered 429. It is taken from the account's quota. */
  readonly maxConcurrency?: number;
  /** Default: 15 s. */
  readonly deadlineReserveMs?: number;
}

/** Every `functions/lambda-<name>.ts`. A new one is one line here. */
export const functionRows = {
  ingest: {
    memoryMiB: 512,
    timeoutSeconds: 60,
    trigger: "hints",
    access: ["document", "requests", "subscribers", "wakeUps"],
  },
  sweep: {
    memoryMiB: 512,
    timeoutSeconds: 60,
    trigger: "every minute",
    access: ["document", "requests", "dueItems", "clusterStates", "wakeUps"],
  },
  reconcile: {
    timeoutSeconds: 900,
    trigger: "wake-ups",
    access: ["document", "runs", "wakeUps", "ownWakeUps", "parked", "artifacts", "installationKey", "notifications"],
  },
  receiver: {
    memoryMiB: 1024,
    timeoutSeconds: 20,
    trigger: "web",
    access: ["document", "requests", "receivers", "wakeUps", "ownNetwork"],
    maxConcurrency: 10,
    deadlineReserveMs: 2_000,
  },
  notify: {
    memoryMiB: 1024,
    timeoutSeconds: 300,
    trigger: "notifications",
    access: ["document", "ownerName", "ownNotifications"],
  },
  admission: {
    memoryMiB: 512,
    timeoutSeconds: 5,
    trigger: "web",
    access: ["document", "tableName", "wakeUps", "admissionSecret"],
    maxConcurrency: 10,
  },
  collect: {
    memoryMiB: 512,
    timeoutSeconds: 900,
    trigger: "every day",
    access: ["tableName", "artifactRecords", "unnamedArtifacts"],
  },
  configuration: { memoryMiB: 512, timeoutSeconds: 900, trigger: "custom resource", access: [] },
  definitions: { memoryMiB: 512, timeoutSeconds: 300, trigger: "custom resource", access: [] },
  "drop-guard": { memoryMiB: 256, timeoutSeconds: 60, trigger: "custom resource", access: [] },
} as const satisfies Record<string, FunctionRow>;

export type FunctionName = keyof typeof functionRows;

export interface FunctionSettings {
  /** How long a log keeps messages. */
  readonly logRetention: RetentionDays;
  readonly logLevel: string;
  readonly encryptionKey: IKey | undefined;
  readonly logEncryptionKey: IKey | undefined;
  readonly reconcile: ReconcileSize;
}

/** One function: its own role with only what its row lists, its log group, a published version and the alias `live`. */
export class SluiceFunction extends Construct implements ServiceFunction {
  readonly role: Role;
  readonly function: Function;
  readonly alias: Alias;
  readonly logGroup: LogGroup;
  readonly name: FunctionName;

  constructor(
    scope: Construct,
    id: string,
    {
      name,
      network,
      vpc,
      shared,
      settings,
    }: {
      readonly name: FunctionName;
      readonly network: string;
      readonly vpc: Network | undefined;
      readonly shared: Shared;
      readonly settings: FunctionSettings;
    },
  ) {
    super(scope, id);
    this.name = name;
    const {
      memoryMiB = settings.reconcile.memoryMiB,
      timeoutSeconds,
      trigger,
      access,
      maxConcurrency,
      deadlineReserveMs,
    }: FunctionRow = functionRows[name];
    const given = access.map((key) => accesses[key](shared, network));
    this.logGroup = new LogGroup(this, "Log", {
      retention: settings.logRetention,
      encryptionKey: settings.logEncryptionKey,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, "Role", {
      // Only if a stack of another account or region names it, as `SluiceClusterRoles` does.
      roleName: PhysicalName.GENERATE_IF_NEEDED,
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      description: `Sluice: the function ${name}`,
    });
    this.role.addToPolicy(
      allow("WriteLog", ["logs:CreateLogStream", "logs:PutLogEvents"], [this.logGroup.logGroupArn]),
    );
    for (const statement of given.flatMap(({ statements }) => statements)) this.role.addToPolicy(statement);
    if (vpc !== undefined) for (const statement of joinVpc()) this.role.addToPolicy(statement);
    if (settings.encryptionKey !== undefined) {
      const actions = given.flatMap(({ statements }) => statements.flatMap((statement) => statement.actions));
      this.role.addToPolicy(allow("UseKey", keyActions(actions), [settings.encryptionKey.keyArn]));
    }
    acknowledgeWildcards(this.role, shared);
    this.function = new Function(this, "Function", {
      description: `Sluice: ${name}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: "index.handler",
      code: Code.fromAsset(bundleFolder(name)),
      memorySize: memoryMiB,
      ephemeralStorageSize: name === "reconcile" ? Size.mebibytes(settings.reconcile.tmpMiB) : undefined,
      timeout: Duration.seconds(timeoutSeconds),
      role: this.role,
      logGroup: this.logGroup,
      environment: {
        SLUICE_LOG_LEVEL: settings.logLevel,
        ...(deadlineReserveMs === undefined ? {} : { SLUICE_DEADLINE_RESERVE_MS: String(deadlineReserveMs) }),
        ...Object.fromEntries(given.flatMap(({ environment }) => Object.entries(environment))),
      },
      environmentEncryption: settings.encryptionKey,
      reservedConcurrentExecutions: maxConcurrency,
      vpc: vpc?.vpc,
      vpcSubnets: vpc?.subnets,
      securityGroups: vpc === undefined ? undefined : [...vpc.securityGroups],
      // If a deployment is rolled back, its version is deleted: otherwise the same deployment could not create it again.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
      // A run sends its object's next wake-up to the queue that it came from. Lambda ends such chains after 16 links, unless told
      // that they are meant.
      recursiveLoop: trigger === "wake-ups" ? RecursiveLoop.ALLOW : RecursiveLoop.TERMINATE,
    });
    this.alias = new Alias(this, "Live", { aliasName: "live", version: this.function.currentVersion });
  }

  /** Gives the function a URL that anyone on the internet may call, and answers it: `https://…/`. What is behind it decides who may. */
  publish(): string {
    return this.alias.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url;
  }

  /** Lets the function take the messages of a queue. A message that it does not name as failed is done. */
  consume(
    queue: IQueue,
    { batchSize, maxConcurrency }: { readonly batchSize: number; readonly maxConcurrency: number },
  ): void {
    this.role.addToPolicy(
      allow("TakeMessages", ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"], [queue.queueArn]),
    );
    const mapping = new EventSourceMapping(this, "Messages", {
      target: this.alias,
      eventSourceArn: queue.queueArn,
      batchSize,
      maxConcurrency,
      reportBatchItemFailures: true,
    });
    // Lambda tries these rights when the mapping is made.
    mapping.node.addDependency(this.role);
  }
}

/** The resources with a `*` that a role may have. infra/test/permissions.test.ts lists every statement in docs/security.md. */
function acknowledgeWildcards(role: Role, { document, state }: Shared): void {
  const { node } = state.bucket;
  const bucket = CfnResource.isCfnResource(node.defaultChild) ? node.defaultChild.logicalId : "";
  acknowledgeWildcard(
    role,
    `<${String(Stack.of(role).resolve(bucket))}.Arn>/artifacts/*`,
    "Artifacts are named by digests, which are not known before",
  );
  acknowledgeWildcard(
    role,
    "*",
    "Network interfaces that Lambda makes later, and the login at ECR, which is of a whole registry: there is nothing finer",
  );
  document.onWritten((arn) => {
    acknowledgeWildcard(role, arn, "If the alias goes back to a version, it reads the document of its own deployment");
  });
}

/**
 * What a function needs of a key of one's own. Its environment, the table, secrets and received messages are opened; SQS and S3 seal
 * each message and object with a new data key, and DynamoDB keeps that of the table.
 */
function keyActions(actions: readonly string[]): readonly string[] {
  const seals = actions.includes("sqs:SendMessage") || actions.includes("s3:PutObject");
  return seals ? ["kms:Decrypt", "kms:GenerateDataKey"] : ["kms:Decrypt"];
}

/** Lets Lambda make the network interfaces of a function, and not the function's own code. */
function joinVpc(): readonly PolicyStatement[] {
  const denied = new PolicyStatement({
    sid: "DenyJoinVpcToCode",
    effect: Effect.DENY,
    actions: vpcActions,
    resources: ["*"],
    // Only requests that code of a function makes have it.
    conditions: { Null: { "lambda:SourceFunctionArn": "false" } },
  });
  return [allow("JoinVpc", vpcActions, ["*"]), denied];
}

/** Lambda makes the network interfaces; none of these can be limited to resources that exist before. */
const vpcActions = [
  "ec2:AssignPrivateIpAddresses",
  "ec2:CreateNetworkInterface",
  "ec2:DeleteNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:UnassignPrivateIpAddresses",
];
