import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { Connections } from "aws-cdk-lib/aws-ec2";
import type { IRole } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { IConstruct } from "constructs";
import { defaultNetwork as networkOfDocument } from "../../functions/settings/installation.ts";

/** An account and region of registries whose pushes reach the event bus of a Sluice. */
export interface PushOrigin {
  /** Twelve digits. Default: the account of the Sluice. */
  readonly account?: string;
  /** Default: the region of the Sluice. */
  readonly region?: string;
}

/** The network of clusters without the property `network`. Its functions are outside of any VPC, unless `networks` has an entry for it. */
export const defaultNetwork: string = networkOfDocument;

/** By function: ARNs of the roles that functions assume to enter a cluster of another account. */
export interface ClusterRoles {
  readonly reconcile: string;
  readonly definitions: string;
  /** Required with the property `webhooks`. It must differ from the other roles. */
  readonly receiver?: string | undefined;
  /** Required with the property `notifications`. */
  readonly notify?: string | undefined;
  /** Required if the cluster has a `SluiceConfiguration`. */
  readonly configuration?: string | undefined;
}

/** A cluster in the document that the functions read. All values are known when the app is synthesised: no tokens. */
export interface ServedCluster {
  /** `arn:aws:eks:<region>:<account>:cluster/<name>`. */
  readonly arn: string;
  /** ARN of the one role of another account that every function assumes to enter the cluster. Default: none. */
  readonly role?: string;
  /** In place of `role`: one for each function. Default: none. */
  readonly roles?: Pick<ClusterRoles, "reconcile" | "receiver" | "notify">;
  /** The network that reaches the cluster's endpoint, one of the Sluice's `networks`. Default: `default`. */
  readonly network?: string;
  /** What Sluice's own role may do in it, see `AddClusterProps`. Default: unknown. */
  readonly rights?: "clusterAdmin" | "namespaces";
  /** Runs of this cluster at the same time, 1 to 1000. Default: 20. */
  readonly maxRuns?: number;
  /**
   * KMS keys that open data keys of SOPS for Kustomizations of a namespace with Sluice's own identity, by namespace:
   * `{ apps: ["arn:aws:kms:<region>:<account>:key/<id>"] }`. Each as the encrypted files name it, whole: a key, an alias
   * (`…:alias/<name>`), or either with `+` and the ARN of a role that is assumed first. Default: none.
   */
  readonly decryptionKeys?: Readonly<Record<string, readonly string[]>>;
  /** By namespace, the other clusters that its Kustomizations may apply to by a ConfigMap, see `AddClusterProps`. Default: none. */
  readonly targets?: Readonly<Record<string, readonly string[]>>;
  /** By namespace, what its Providers may send to with Sluice's own identity, see `AddClusterProps`. Default: none. */
  readonly notificationTargets?: Readonly<Record<string, readonly string[]>>;
  /** By namespace, the regions whose CloudWatch its MetricTemplates read with Sluice's own identity, see `AddClusterProps`. Default: none. */
  readonly cloudWatchRegions?: Readonly<Record<string, readonly string[]>>;
}

/** One function with what belongs to it. */
export interface ServiceFunction extends IConstruct {
  /** Metrics are under its name. Callers use `alias`. */
  readonly function: IFunction;
  /** `live`: the version that is called. To roll back, point it to an earlier version. */
  readonly alias: IFunction;
  readonly role: IRole;
  readonly logGroup: ILogGroup;
}

/** The function that API servers report changes to, and the secret from which its path is made. */
export interface AdmissionWebhook {
  readonly url: string;
  readonly secret: ISecret;
  /** The setting `watch-configs-label-selector`. Default: that of Flux. */
  readonly selector?: string;
}

/** The parts of a Sluice that the other constructs use. */
export interface SluiceService extends IConstruct {
  readonly table: ITable;
  /** Of the artifacts. */
  readonly bucket: IBucket;
  /** By network. */
  readonly wakeUpQueues: Readonly<Record<string, IQueue>>;
  /** The dead-letter queue of wake-ups, of all networks. */
  readonly wakeUpDeadLetters: IQueue;
  /** A letter for each object that is parked. */
  readonly parkedQueue: IQueue;
  /** Pushes to registries, in front of ingest. */
  readonly hintsQueue: IQueue;
  /** Events that ingest failed to process. */
  readonly hintsDeadLetters: IQueue;
  /** Events that EventBridge could not deliver. */
  readonly undeliveredEvents: IQueue;
  /** Notifications in front of notify, by network; empty without the property `notifications`. */
  readonly notificationQueues: Readonly<Record<string, IQueue>>;
  /** Notifications that were not delivered, from all networks; undefined without the property `notifications`. */
  readonly notificationDeadLetters: IQueue | undefined;
  /** By name: `ingest`, `sweep`, `reconcile`, and `reconcile-<network>` for each other network. */
  readonly functions: Readonly<Record<string, IFunction>>;
  /** By the names of `functions`. */
  readonly logGroups: Readonly<Record<string, ILogGroup>>;
  /** 64 hexadecimal digits, made once and retained. */
  readonly installationKey: ISecret;
  /** Whether custom resources and the dashboard are left out, since emulators of AWS do not support them (context `sluice:emulator`). */
  readonly emulated: boolean;
  /** Other accounts and regions whose pushes reach it. */
  readonly pushesFrom: readonly PushOrigin[];
  /** In the order in which they were added. */
  readonly clusters: readonly ServedCluster[];
  /** URLs of the functions that take webhooks, by network; empty without the property `webhooks`. */
  readonly webhookUrls: Readonly<Record<string, string>>;
  /** The properties from which the definitions function installs the admission webhook; undefined without the property `admission`. */
  readonly admissionWebhook: AdmissionWebhook | undefined;
  /** The role that reaches the clusters of a network. Throws if there is no such network. */
  reconcileRole(network?: string): IRole;
  /** The security groups of the functions of a network; undefined where it is in no VPC. */
  networkConnections(network?: string): Connections | undefined;
  /** The endpoints that this app makes in the VPC of a network, for the services that the functions call. */
  networkEndpoints(network?: string): readonly IConstruct[];
  /** The role that reads tokens of Receivers in the clusters of a network; undefined without the property `webhooks`. */
  receiverRole(network?: string): IRole | undefined;
  /** The role that reads Alerts and Providers in the clusters of a network; undefined without the property `notifications`. */
  notifyRole(network?: string): IRole | undefined;
  /**
   * Adds a cluster to the document of the functions, and lets reconcile describe it. Throws for a token in place of its ARN, an unknown
   * network, another account without a role, a cluster that was added before, and more than 200 clusters.
   */
  serveCluster(cluster: ServedCluster): void;
  /**
   * Lets objects of a namespace pull repositories of ECR with Sluice's own rights. `pattern`: `<host of ECR>/<repository>`, a `*`
   * at the end stands for anything. Throws if the cluster is not served.
   */
  allowRepository(cluster: string, namespace: string, pattern: string): void;
  /** Lets objects of a namespace read this bucket of S3 with Sluice's own rights. Throws if the cluster is not served. */
  allowBucket(cluster: string, namespace: string, bucket: string): void;
  /** The function that only custom resources call, one for each network. It is created by the first call. */
  functionFor(name: string, network?: string): ServiceFunction;
}
