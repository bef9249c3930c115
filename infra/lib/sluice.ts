import { RemovalPolicy, Stack, Tags } from "aws-cdk-lib";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { IRole } from "aws-cdk-lib/aws-iam";
import { type IManagedPolicy, PermissionsBoundary } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { type ILogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { maxNetworks, networkPattern } from "../../functions/settings/installation.ts";
import { allow, mayDecrypt, mayEnter } from "./access.ts";
import { type AddClusterProps, SluiceCluster } from "./cluster.ts";
import { DropGuard } from "./drop-guard.ts";
import { type FunctionName, functionRows, SluiceFunction, type SluiceNetwork } from "./functions.ts";
import { InstallationDocument } from "./installation.ts";
import { Events, eventOrigins } from "./pushes.ts";
import { pascalCase, Queues } from "./queues.ts";
import {
  type AdmissionWebhook,
  defaultNetwork,
  type PushOrigin,
  type ServedCluster,
  type ServiceFunction,
  type SluiceService,
} from "./service.ts";
import { hexadecimalSecret, State } from "./state.ts";
import { denyOtherWriters } from "./writers.ts";

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
  /** How long logs are kept. Default: one month. */
  readonly logRetention?: RetentionDays;
  /** `debug`, `info`, `warn` or `error`. Default: `info`. */
  readonly logLevel?: "debug" | "info" | "warn" | "error";
  /** What becomes of table and bucket when the stack is deleted. The installation key is always retained. Default: retained. */
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
  /** The boundary of every role. Default: none. */
  readonly permissionsBoundary?: IManagedPolicy;
  /** On every resource that takes tags. Default: none. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Reconcile functions that run at the same time in each network, 2 to 1000; each works on ten wake-ups. Default: 10. */
  readonly maxConcurrency?: number;
  /**
   * Other accounts and regions whose pushes to ECR reach the event bus `default` of this stack's account and region, by a
   * `SluicePushForwarding` there. The bus lets these accounts send such events. Default: none, only this stack's account and region.
   */
  readonly pushesFrom?: readonly PushOrigin[];
  /**
   * ARNs of principals that may write to table, bucket and queues beside Sluice's own roles, for repairs by hand; a `*` in them stands
   * for anything. Default: nobody, an administrator changes the policies first.
   */
  readonly breakGlassPrincipals?: readonly string[];
  /**
   * Whether this deployment may take away what the one before granted: a cluster, its rights, a repository, a key or a target of a
   * namespace, webhooks, admission. Default: false, then such a deployment fails before anything is taken away.
   */
  readonly allowDrops?: boolean;
}

/** Sluice in one account and region: state, queues and functions. Clusters and repositories are added to it. */
export class Sluice extends Construct implements SluiceService {
  readonly table: Table;
  readonly bucket: Bucket;
  readonly installationKey: Secret;
  readonly wakeUpQueues: Readonly<Record<string, Queue>>;
  readonly wakeUpDeadLetters: Queue;
  readonly parkedQueue: Queue;
  readonly hintsQueue: Queue;
  readonly hintsDeadLetters: Queue;
  readonly undeliveredEvents: Queue;
  readonly functions: Record<string, IFunction> = {};
  readonly logGroups: Record<string, ILogGroup> = {};
  readonly emulated: boolean;
  readonly pushesFrom: readonly PushOrigin[];
  readonly webhookUrls: Readonly<Record<string, string>>;
  readonly admissionWebhook: AdmissionWebhook | undefined;
  private readonly made: Record<string, SluiceFunction> = {};
  private readonly document: InstallationDocument;
  private readonly makeFunction: (name: FunctionName, network: string) => SluiceFunction;

  constructor(scope: Construct, id: string, props: SluiceProps = {}) {
    super(scope, id);
    const { encryptionKey, maxConcurrency = 10 } = props;
    this.emulated = String(this.node.tryGetContext("sluice:emulator")) === "true";
    const vpcs: Readonly<Record<string, SluiceNetwork | undefined>> = {
      [defaultNetwork]: undefined,
      ...props.networks,
    };
    const networks = Object.keys(vpcs);
    checkNetworks(this, networks);

    const state = new State(this, "State", {
      encryptionKey,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    });
    const { ingest, reconcile } = functionRows;
    const queues = new Queues(this, "Queues", {
      networks,
      encryptionKey,
      timeoutSeconds: { ingest: ingest.timeoutSeconds, reconcile: reconcile.timeoutSeconds },
    });
    this.document = new InstallationDocument(this, "Installation", props.settings ?? {});
    ({ table: this.table, bucket: this.bucket, installationKey: this.installationKey } = state);
    this.wakeUpQueues = queues.wakeUps;
    this.wakeUpDeadLetters = queues.wakeUpDeadLetters;
    this.parkedQueue = queues.parked;
    this.hintsQueue = queues.hints;
    this.hintsDeadLetters = queues.hintsDeadLetters;
    this.undeliveredEvents = queues.undeliveredEvents;

    const settings = {
      logRetention: props.logRetention ?? RetentionDays.ONE_MONTH,
      logLevel: props.logLevel ?? "info",
      encryptionKey,
    };
    const admissionSecret =
      props.admission === true
        ? hexadecimalSecret(this, "AdmissionSecret", admissionSecretText, encryptionKey)
        : undefined;
    const shared = { state, queues, document: this.document, admissionSecret };
    this.makeFunction = (name, network) => {
      const key = keyOf(name, network);
      const made = new SluiceFunction(this, pascalCase(key), { name, network, vpc: vpcs[network], shared, settings });
      this.made[key] = made;
      this.functions[key] = made.function;
      this.logGroups[key] = made.logGroup;
      return made;
    };
    const ingester = this.makeFunction("ingest", defaultNetwork);
    ingester.consume(queues.hints, { batchSize: 10, maxConcurrency: 2 });
    const sweep = this.makeFunction("sweep", defaultNetwork);
    const reconcilers = Object.entries(queues.wakeUps).map(([network, queue]) => {
      const made = this.makeFunction("reconcile", network);
      made.consume(queue, { batchSize: 10, maxConcurrency });
      return made;
    });
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
    new Events(this, "Events", { queues, sweep, pushesFrom: this.pushesFrom });
    ingester.function.addEnvironment("SLUICE_EVENTS_FROM", eventOrigins(this, this.pushesFrom).join(","));

    const runs = reconcilers.map(({ role }) => role);
    const requests = [ingester.role, sweep.role, ...receivers.map(({ role }) => role), ...runs];
    const senders = [...requests, ...(admission === undefined ? [] : [admission.role])];
    const deny = denyOtherWriters(props.breakGlassPrincipals ?? []);
    deny.table(state.table, requests);
    deny.bucket(state.bucket, runs);
    for (const queue of Object.values(queues.wakeUps)) deny.queue(queue, senders);
    deny.queue(queues.parked, runs);
    for (const queue of [queues.hints, queues.hintsDeadLetters, queues.wakeUpDeadLetters, queues.undeliveredEvents]) {
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

  receiverRole(network = defaultNetwork): IRole | undefined {
    return this.made[keyOf("receiver", network)]?.role;
  }

  /** Makes an existing cluster known: access for the functions, and the definitions in it. */
  addCluster(id: string, props: AddClusterProps): SluiceCluster {
    return new SluiceCluster(this, id, { ...props, sluice: this });
  }

  serveCluster(cluster: ServedCluster): void {
    this.document.serve(cluster);
    const { arn, role, network, decryptionKeys = {}, targets = {} } = cluster;
    const account = arn.split(":")[4] ?? "";
    const { account: own } = Stack.of(this);
    if (role === undefined && /^\d{12}$/.test(own) && own !== account) {
      throw new Error(
        `${this.node.path}: the cluster "${arn}" is in the account ${account} and this stack in ${own}: give the property role, the ARN of a role of ${account} that Sluice may assume`,
      );
    }
    for (const reaching of [this.reconcileRole(network), this.receiverRole(network)]) {
      reaching?.addToPrincipalPolicy(
        role === undefined ? allow("", ["eks:DescribeCluster"], [arn]) : allow("", ["sts:AssumeRole"], [role]),
      );
    }
    for (const key of new Set(Object.values(decryptionKeys).flat())) mayDecrypt(this.reconcileRole(network), key);
    for (const target of new Set(Object.values(targets).flat())) mayEnter(this.reconcileRole(network), target);
  }

  allowRepository(cluster: string, namespace: string, pattern: string): void {
    this.document.allow(cluster, namespace, pattern);
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

const admissionSecretText = "Sluice: what the path of the admission webhook is made of";

/** Each is part of names of resources, and an entry of the environment of every function. */
function checkNetworks({ node }: Sluice, names: readonly string[]): void {
  const wrong = names.find((name) => !networkPattern.test(name));
  if (wrong !== undefined) {
    throw new Error(`${node.path} has the network "${wrong}": write letters, digits and hyphens, 32 at most`);
  }
  const alike = names.find((name, index) => names.findIndex((other) => pascalCase(other) === pascalCase(name)) < index);
  if (alike !== undefined) {
    throw new Error(
      `${node.path} has the network "${alike}" beside one whose resources would be called the same: rename it`,
    );
  }
  if (names.length > maxNetworks) {
    throw new Error(
      `${node.path} has ${names.length} networks, ten at most are possible with "${defaultNetwork}": use a second Sluice for the others`,
    );
  }
}

function isFunctionName(name: string): name is FunctionName {
  return Object.hasOwn(functionRows, name);
}

function keyOf(name: string, network: string): string {
  return network === defaultNetwork ? name : `${name}-${network}`;
}
