import { RemovalPolicy, Stack, Tags } from "aws-cdk-lib";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { Connections, type IConnectable } from "aws-cdk-lib/aws-ec2";
import type { Grant, IGrantable, IRole } from "aws-cdk-lib/aws-iam";
import { type IManagedPolicy, PermissionsBoundary } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { type ILogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct, IConstruct } from "constructs";
import { type ReconcileSize, reconcileSize } from "../../functions/settings/reconcile-size.ts";
import { allow, mayDecrypt, mayEnter, mayNotify, mayReadMetrics } from "./access.ts";
import { type AddClusterProps, SluiceCluster } from "./cluster.ts";
import { DropGuard } from "./drop-guard.ts";
import { type FunctionName, functionRows, SluiceFunction } from "./functions.ts";
import { InstallationDocument } from "./installation.ts";
import { letLogsUse } from "./log-key.ts";
import { checkNetworks, Network, type SluiceNetwork } from "./networks.ts";
import { Events, eventOrigins, grantAnnouncing } from "./pushes.ts";
import { pascalCase, Queues } from "./queues.ts";
import { Redrive } from "./redrive.ts";
import {
  type AdmissionWebhook,
  defaultNetwork,
  type PushOrigin,
  type ServedCluster,
  type ServiceFunction,
  type SluiceService,
} from "./service.ts";
import { WithMetrics } from "./sluice-metrics.ts";
import { hexadecimalSecret, State } from "./state.ts";
import { endpointsIn } from "./vpc-endpoints.ts";
import { denyOtherWriters } from "./writers.ts";

export type { ReconcileSize };

export interface SluiceProps {
  /** The settings of the installation, as in docs/settings.md. Default: those of Flux. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /**
   * The VPCs of clusters whose endpoint is private, by the names that clusters give as their `network`: letters, digits and hyphens,
   * 32 at most; ten networks at most. Each gets a queue and a reconcile function of its own. Default: only `default`, in no VPC.
   */
  readonly networks?: Readonly<Record<string, SluiceNetwork>>;
  /** Encrypts table, queues, bucket, secret and environments. Default: keys that AWS owns or manages, at no cost. */
  readonly encryptionKey?: IKey;
  /**
   * Encrypts the log groups; it may be `encryptionKey`. The policy of an imported key has to let CloudWatch Logs use it already
   * (docs/security.md), or the deployment fails. Default: CloudWatch's own encryption, also with `encryptionKey`.
   */
  readonly logEncryptionKey?: IKey;
  /** How long logs are kept. Default: one month. */
  readonly logRetention?: RetentionDays;
  /** `debug`, `info`, `warn` or `error`. Default: `info`. */
  readonly logLevel?: "debug" | "info" | "warn" | "error";
  /**
   * What becomes of table and bucket when the stack is deleted; with `DESTROY` a function of the CDK empties the bucket first, all
   * versions. The installation key is always retained. Default: retained.
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * Whether there are functions that take webhooks of Receivers, one for each network, each with a URL that is open to the internet
   * (docs/security.md). Default: none, and nothing of Sluice is open.
   */
  readonly webhooks?: boolean;
  /**
   * Whether clusters tell a function, at a URL that is open to the internet, that an object is about to change (docs/security.md).
   * Default: none, the sweep finds it within a minute.
   */
  readonly admission?: boolean;
  /**
   * Whether there are functions that deliver notifications to the Providers of Alerts, one for each network with a queue of its own. What
   * notifications may be sent to with Sluice's own identity is `notificationTargets` of `addCluster`. Default: none, Alerts do nothing.
   */
  readonly notifications?: boolean;
  /** The boundary of every role. Default: none. */
  readonly permissionsBoundary?: IManagedPolicy;
  /** On every resource that takes tags. Default: none. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Reconcile functions that run at the same time in each network, 2 to 1000; each works on `reconcile.batchSize` wake-ups. Default: 10. */
  readonly maxConcurrency?: number;
  /**
   * What a reconcile function has. `batchSize`: wake-ups that it works on at the same time, 1 to 10; default: 2. `memoryMiB`, up to 10240,
   * and `tmpMiB`, 512 to 10240; default: as much as so many runs take together at their limits (docs/limits.md). Less is refused.
   */
  readonly reconcile?: Partial<ReconcileSize>;
  /**
   * Other accounts and regions whose pushes to ECR reach the event bus `default` of this stack's account and region, by a
   * `SluicePushForwarding` there. The bus lets these accounts send such events. Default: none, only this stack's account and region.
   */
  readonly pushesFrom?: readonly PushOrigin[];
  /**
   * ARNs of principals that may write to table, bucket and queues beside Sluice's own roles, for repairs by hand; a `*` in them stands
   * for anything. Default: none, an administrator changes the policies first.
   */
  readonly breakGlassPrincipals?: readonly string[];
  /**
   * Whether this deployment may take away what the one before granted: a cluster, its rights, a repository, a bucket, a key, a
   * target or a region of a namespace, webhooks, notifications, admission. Default: false, then such a deployment fails before anything is taken away.
   */
  readonly allowDrops?: boolean;
}

/** Sluice in one account and region: state, queues and functions. Clusters and repositories are added to it. */
export class Sluice extends WithMetrics implements SluiceService, IConnectable {
  readonly table: Table;
  readonly bucket: Bucket;
  readonly installationKey: Secret;
  readonly wakeUpQueues: Readonly<Record<string, Queue>>;
  readonly wakeUpDeadLetters: Queue;
  readonly parkedQueue: Queue;
  readonly hintsQueue: Queue;
  readonly hintsDeadLetters: Queue;
  readonly undeliveredEvents: Queue;
  readonly notificationQueues: Readonly<Record<string, Queue>>;
  readonly notificationDeadLetters: Queue | undefined;
  readonly functions: Record<string, IFunction> = {};
  readonly logGroups: Record<string, ILogGroup> = {};
  /** The role and the commands that move dead letters back. */
  readonly redrive: Redrive;
  readonly emulated: boolean;
  readonly pushesFrom: readonly PushOrigin[];
  readonly webhookUrls: Readonly<Record<string, string>>;
  readonly admissionWebhook: AdmissionWebhook | undefined;
  private readonly networks: Readonly<Record<string, Network>>;
  private readonly made: Record<string, SluiceFunction> = {};
  private readonly document: InstallationDocument;
  private readonly makeFunction: (name: FunctionName, network: string) => SluiceFunction;

  constructor(scope: Construct, id: string, props: SluiceProps = {}) {
    super(scope, id);
    const { encryptionKey, maxConcurrency = 10 } = props;
    this.emulated = String(this.node.tryGetContext("sluice:emulator")) === "true";
    const networks = Object.keys({ [defaultNetwork]: undefined, ...props.networks });
    checkNetworks(this, networks);
    this.networks = Object.fromEntries(
      Object.entries(props.networks ?? {}).map(([name, network]) => [
        name,
        new Network(this, name, network, () => this.document.neededEndpoints(name)),
      ]),
    );

    const state = new State(this, "State", {
      emulated: this.emulated,
      encryptionKey,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    });
    const { ingest, notify, reconcile } = functionRows;
    const queues = new Queues(this, "Queues", {
      networks,
      encryptionKey,
      notifications: props.notifications === true,
      timeoutSeconds: {
        ingest: ingest.timeoutSeconds,
        notify: notify.timeoutSeconds,
        reconcile: reconcile.timeoutSeconds,
      },
    });
    this.document = new InstallationDocument(this, "Installation", props.settings ?? {});
    ({ table: this.table, bucket: this.bucket, installationKey: this.installationKey } = state);
    this.wakeUpQueues = queues.wakeUps;
    this.wakeUpDeadLetters = queues.wakeUpDeadLetters;
    this.parkedQueue = queues.parked;
    this.hintsQueue = queues.hints;
    this.hintsDeadLetters = queues.hintsDeadLetters;
    this.undeliveredEvents = queues.undeliveredEvents;
    this.notificationQueues = queues.notifications;
    this.notificationDeadLetters = queues.notificationDeadLetters;

    const size = reconcileSize(props.reconcile ?? {});
    if ("faults" in size) throw new Error(`${this.node.path}: ${size.faults.join("; ")}`);
    const settings = {
      reconcile: size,
      logRetention: props.logRetention ?? RetentionDays.ONE_MONTH,
      logLevel: props.logLevel ?? "info",
      encryptionKey,
      logEncryptionKey: props.logEncryptionKey,
    };
    if (props.logEncryptionKey !== undefined) letLogsUse(props.logEncryptionKey);
    const admissionSecret =
      props.admission === true
        ? hexadecimalSecret(this, "AdmissionSecret", admissionSecretText, encryptionKey)
        : undefined;
    const shared = { state, queues, document: this.document, admissionSecret };
    this.makeFunction = (name, network) => {
      const key = keyOf(name, network);
      const vpc = this.networks[network];
      const made = new SluiceFunction(this, pascalCase(key), { name, network, vpc, shared, settings });
      this.made[key] = made;
      this.functions[key] = made.function;
      this.logGroups[key] = made.logGroup;
      return made;
    };
    const ingester = this.makeFunction("ingest", defaultNetwork);
    ingester.consume(queues.hints, { batchSize: 10, maxConcurrency: 2 });
    const sweep = this.makeFunction("sweep", defaultNetwork);
    const collector = this.makeFunction("collect", defaultNetwork);
    const reconcilers = Object.entries(queues.wakeUps).map(([network, queue]) => {
      const made = this.makeFunction("reconcile", network);
      made.consume(queue, { batchSize: size.batchSize, maxConcurrency });
      return made;
    });
    for (const [network, queue] of Object.entries(queues.notifications)) {
      this.makeFunction("notify", network).consume(queue, { batchSize: 10, maxConcurrency: notifyConcurrency });
    }
    const receivers = props.webhooks === true ? networks.map((network) => this.makeFunction("receiver", network)) : [];
    this.webhookUrls = Object.fromEntries(
      receivers.map((receiver, index) => {
        const url = receiver.publish();
        reconcilers[index]?.function.addEnvironment("SLUICE_WEBHOOK_URL", url);
        return [networks[index] ?? defaultNetwork, url];
      }),
    );
    const admission = admissionSecret === undefined ? undefined : this.makeFunction("admission", defaultNetwork);
    if (admission !== undefined && admissionSecret !== undefined) {
      const selector = props.settings?.["watch-configs-label-selector"];
      this.admissionWebhook = {
        url: admission.publish(),
        secret: admissionSecret,
        ...(typeof selector === "string" ? { selector } : {}),
      };
    }
    this.pushesFrom = props.pushesFrom ?? [];
    new Events(this, "Events", { queues, sweep, collector, pushesFrom: this.pushesFrom });
    ingester.function.addEnvironment("SLUICE_EVENTS_FROM", eventOrigins(this, this.pushesFrom).join(","));

    this.redrive = new Redrive(this, "Redrive", { queues, encryptionKey });
    const { role: redrives } = this.redrive;
    const runs = reconcilers.map(({ role }) => role);
    const requests = [ingester.role, sweep.role, ...receivers.map(({ role }) => role), ...runs];
    const senders = [...requests, ...(admission === undefined ? [] : [admission.role]), redrives];
    const deny = denyOtherWriters(props.breakGlassPrincipals ?? []);
    deny.table(state.table, requests);
    deny.bucket(state.bucket, [...runs, collector.role], state.emptiedBy);
    for (const queue of Object.values(queues.wakeUps)) deny.queue(queue, senders);
    for (const [network, queue] of Object.entries(queues.notifications)) {
      deny.queue(queue, [this.reconcileRole(network), redrives]);
    }
    if (queues.notificationDeadLetters !== undefined) deny.queue(queues.notificationDeadLetters, []);
    deny.queue(queues.parked, runs);
    deny.queue(queues.hints, [redrives]);
    for (const queue of [queues.hintsDeadLetters, queues.wakeUpDeadLetters, queues.undeliveredEvents]) {
      deny.queue(queue, []);
    }
    if (!this.emulated) {
      // In no VPC, since it speaks only to CloudFormation, and not among those that serve objects.
      const how = { network: defaultNetwork, vpc: undefined, shared, settings };
      new DropGuard(this, "Drops", {
        compares: new SluiceFunction(this, "DropGuard", { name: "drop-guard", ...how }),
        granted: () => ({
          ...this.document.granted(),
          webhooks: props.webhooks === true ? networks.toSorted() : [],
          ...(props.notifications === true ? { notifications: networks.toSorted() } : {}),
          admission: props.admission === true,
        }),
        allowDrops: props.allowDrops === true,
      });
    }
    if (props.permissionsBoundary !== undefined) PermissionsBoundary.of(this).apply(props.permissionsBoundary);
    for (const [key, value] of Object.entries(props.tags ?? {})) Tags.of(this).add(key, value);
  }

  get clusters(): readonly ServedCluster[] {
    return this.document.served();
  }

  reconcileRole(network = defaultNetwork): IRole {
    const made = this.made[keyOf("reconcile", network)];
    if (made !== undefined) return made.role;
    const known = Object.keys(this.wakeUpQueues).join(", ");
    throw new Error(
      `${this.node.path} has no network "${network}": add it to the property networks with its VPC, or write one of ${known}`,
    );
  }

  /**
   * The security groups of all networks that are in a VPC, for rules of what the functions reach there. Throws if none is: give
   * `networks` a VPC.
   */
  get connections(): Connections {
    const securityGroups = Object.values(this.networks).flatMap((network) => network.securityGroups);
    if (securityGroups.length > 0) return new Connections({ securityGroups });
    throw new Error(`${this.node.path} is in no VPC, so it has no security groups: give the property networks a VPC`);
  }

  /** Lets a principal read the state table, and open its key: leases, inventories, history. It holds no value of a Secret. */
  grantReadState(grantee: IGrantable): Grant {
    return this.table.grantReadData(grantee);
  }

  /** Lets a principal announce changes by events of its own (docs/events.md). All that it can do with it is to cause runs. */
  grantAnnounceChanges(grantee: IGrantable): Grant {
    return grantAnnouncing(this, grantee);
  }

  networkConnections(network = defaultNetwork): Connections | undefined {
    return this.networks[network]?.connections;
  }

  networkEndpoints(network = defaultNetwork): readonly IConstruct[] {
    const { vpc } = this.networks[network] ?? {};
    return vpc === undefined ? [] : endpointsIn(vpc);
  }

  receiverRole(network = defaultNetwork): IRole | undefined {
    return this.made[keyOf("receiver", network)]?.role;
  }

  notifyRole(network = defaultNetwork): IRole | undefined {
    return this.made[keyOf("notify", network)]?.role;
  }

  /** Makes an existing cluster known: access for the functions, and the definitions in it. */
  addCluster(id: string, props: AddClusterProps): SluiceCluster {
    return new SluiceCluster(this, id, { ...props, sluice: this });
  }

  serveCluster(cluster: ServedCluster): void {
    this.document.serve(cluster);
    const { arn, role, roles, network, decryptionKeys = {}, targets = {}, notificationTargets = {} } = cluster;
    const { cloudWatchRegions = {} } = cluster;
    const account = arn.split(":")[4] ?? "";
    const { account: own } = Stack.of(this);
    if (role === undefined && roles === undefined && /^\d{12}$/.test(own) && own !== account) {
      throw new Error(
        `${this.node.path}: the cluster "${arn}" is in the account ${account} and this stack in ${own}: give the property roles, a SluiceClusterRoles in a stack of ${account}`,
      );
    }
    const receiver = this.receiverRole(network);
    if (receiver !== undefined) this.checkReceiverRole(cluster);
    const notify = this.notifyRole(network);
    this.checkNotify(cluster, notify);
    const entering = [
      [this.reconcileRole(network), roles === undefined ? role : roles.reconcile],
      [receiver, roles?.receiver],
      [notify, roles === undefined ? role : roles.notify],
    ] as const;
    for (const [own, assumed] of entering) {
      own?.addToPrincipalPolicy(
        assumed === undefined ? allow("", ["eks:DescribeCluster"], [arn]) : allow("", ["sts:AssumeRole"], [assumed]),
      );
    }
    for (const key of new Set(Object.values(decryptionKeys).flat())) mayDecrypt(this.reconcileRole(network), key);
    for (const target of new Set(Object.values(targets).flat())) mayEnter(this.reconcileRole(network), target);
    mayReadMetrics(this.reconcileRole(network), Object.values(cloudWatchRegions).flat());
    if (notify === undefined) return;
    for (const target of new Set(Object.values(notificationTargets).flat())) mayNotify(notify, target);
  }

  private checkNotify({ arn, roles, notificationTargets = {} }: ServedCluster, notify: IRole | undefined): void {
    if (notify === undefined && Object.keys(notificationTargets).length > 0) {
      throw new Error(
        `${this.node.path}: the cluster "${arn}" has notificationTargets, but no function sends to them: write notifications: true, or leave them out`,
      );
    }
    if (notify !== undefined && roles !== undefined && roles.notify === undefined) {
      throw new Error(
        `${this.node.path}: roles of the cluster "${arn}" has no notify, which the property notifications needs: write roles.notify, the ARN of a role for that function`,
      );
    }
  }

  /** Throws if receiver, which is open to the internet, would enter the cluster with the rights of other functions. */
  private checkReceiverRole({ arn, role, roles }: ServedCluster): void {
    if (role !== undefined) {
      throw new Error(
        `${this.node.path}: the functions enter the cluster "${arn}" by the one role ${role}, and the property webhooks opens a function to the internet that could then do what reconcile may: give roles in place of role, a SluiceClusterRoles or { reconcile, receiver, definitions } with an ARN each`,
      );
    }
    if (roles !== undefined && roles.receiver === undefined) {
      throw new Error(
        `${this.node.path}: roles of the cluster "${arn}" has no receiver, which the property webhooks needs: write roles.receiver, the ARN of a role for that function alone`,
      );
    }
  }

  allowRepository(cluster: string, namespace: string, pattern: string): void {
    this.document.allow(cluster, namespace, pattern);
  }

  allowBucket(cluster: string, namespace: string, bucket: string): void {
    this.document.allow(cluster, namespace, bucket, "buckets");
  }

  functionFor(name: string, network = defaultNetwork): ServiceFunction {
    if (!isFunctionName(name)) {
      throw new Error(
        `${this.node.path} has no function "${name}": write one of ${Object.keys(functionRows).join(", ")}`,
      );
    }
    return this.made[keyOf(name, network)] ?? this.makeFunction(name, network);
  }
}

/** Functions that deliver at the same time in each network; each works on ten messages. */
const notifyConcurrency = 5;

const admissionSecretText = "Sluice: what the path of the admission webhook is made of";

function isFunctionName(name: string): name is FunctionName {
  return Object.hasOwn(functionRows, name);
}

function keyOf(name: string, network: string): string {
  return network === defaultNetwork ? name : `${name}-${network}`;
}
