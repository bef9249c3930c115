import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CustomResource, Duration, Stack, Token } from "aws-cdk-lib";
import type { ISecurityGroup } from "aws-cdk-lib/aws-ec2";
import type { CfnAccessEntry, IClusterRef } from "aws-cdk-lib/aws-eks";
import type { Policy } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { ownVersion } from "../../lib/core/own-version.ts";
import type { Holder } from "../../lib/definitions/cluster-rights.ts";
import { allow } from "./access.ts";
import { accessEntry, type ClusterRights, checkRights } from "./access-entries.ts";
import { literalClusterArn } from "./cluster-arn.ts";
import { openEndpoint, refuseUnreachable } from "./cluster-endpoint.ts";
import { SluiceClusterRoles } from "./cluster-roles.ts";
import { bundleFolder } from "./package-files.ts";
import { pascalCase } from "./queues.ts";
import { reachPolicy } from "./reach-policy.ts";
import { type ClusterRoles, defaultNetwork, type ServiceFunction, type SluiceService } from "./service.ts";

export interface AddClusterProps {
  /**
   * The cluster as a construct, of `aws-eks` or `aws-eks-v2`, imported or made in this app. Default: none, then `clusterArn` names it.
   * If its ARN is known only while it is deployed, give `clusterArn` too.
   */
  readonly cluster?: IClusterRef;
  /** `arn:aws:eks:<region>:<account>:cluster/<name>`, without tokens. Default: that of `cluster`. */
  readonly clusterArn?: string;
  /**
   * `clusterAdmin`: Sluice applies with its own rights, the access policy AmazonEKSClusterAdminPolicy, where an object names no service
   * account. `namespaces`: it applies only as the service accounts that Kustomizations name, or the setting `default-service-account`, and
   * itself may do what docs/cluster-rights.md lists.
   */
  readonly rights: ClusterRights;
  /** Which of the Sluice's `networks` reaches the cluster's endpoint. Default: `default`, in no VPC unless `networks` says so. */
  readonly network?: string;
  /**
   * ARN of one role that all functions assume to enter the cluster, without tokens. With the property `webhooks` it is refused, since a
   * function that is open to the internet would enter with the rights of all: give `roles`. Default: none.
   */
  readonly role?: string;
  /**
   * ARNs of roles that the functions assume to enter the cluster, without tokens: a `SluiceClusterRoles`, or as made by hand
   * (docs/cluster-rights.md). A cluster of another account needs `roles` or `role`. Default: none, the functions' own roles are let
   * in by access entries.
   */
  readonly roles?: ClusterRoles;
  /**
   * The security group of the cluster's endpoint inside its VPC, which is opened at port 443 to the functions where `network` is in a
   * VPC. Default: that of `cluster`, if it knows one.
   */
  readonly clusterSecurityGroup?: ISecurityGroup;
  /** Runs of this cluster at the same time, 1 to 1000. Default: 20. */
  readonly maxRuns?: number;
  /**
   * KMS keys that open data keys of SOPS for Kustomizations of a namespace with Sluice's own identity, by namespace:
   * `{ apps: ["arn:aws:kms:<region>:<account>:key/<id>"] }`. Each as the encrypted files name it, whole: a key, an alias
   * (`…:alias/<name>`), or either with `+` and the ARN of a role that is assumed first. Default: none.
   */
  readonly decryptionKeys?: Readonly<Record<string, readonly string[]>>;
  /**
   * By namespace, the other clusters of EKS that its Kustomizations may apply to by `spec.kubeConfig.configMapRef`, as
   * `{ apps: ["arn:aws:eks:<region>:<account>:cluster/<name>"] }`; with `+` and the ARN of a role of the cluster's account where Sluice
   * assumes one to enter it, as in another account. The access entry in that cluster is yours to make (docs/other-clusters.md).
   * Default: none.
   */
  readonly targets?: Readonly<Record<string, readonly string[]>>;
  /**
   * By namespace, what its Providers of the types `sns`, `eventbridge` and `sqs` may send to with Sluice's own identity, each whole:
   * `{ apps: ["arn:aws:sns:<region>:<account>:<topic>"] }`, `arn:aws:events:<region>:<account>:event-bus/<name>` or
   * `arn:aws:sqs:<region>:<account>:<queue>`. A target of another account, and the key of an encrypted one, must let the role of the
   * function notify. Needs the property `notifications`. Default: none.
   */
  readonly notificationTargets?: Readonly<Record<string, readonly string[]>>;
  /**
   * By namespace, the regions whose CloudWatch its MetricTemplates of the type `cloudwatch` read with Sluice's own identity:
   * `{ apps: ["eu-west-1"] }`. IAM knows no single metrics, so they read all of the stack's account there. Default: none.
   */
  readonly cloudWatchRegions?: Readonly<Record<string, readonly string[]>>;
  /**
   * Rights of the function that installs definitions, at deployments only. `clusterAdmin`: nothing has to be prepared. `group`: only those
   * of the Kubernetes group `sluice-definitions`, which an administrator creates before (docs/cluster-rights.md). Default: `clusterAdmin`.
   */
  readonly definitionsRights?: "clusterAdmin" | "group";
  /**
   * When the cluster leaves the stack. `keep`: definitions, objects and workloads stay. `removeDefinitions`: the definitions go, and the
   * deletion fails as long as there are objects of our kinds. Workloads stay in both cases. Default: `keep`.
   */
  readonly onDelete?: "keep" | "removeDefinitions";
}

export interface SluiceClusterProps extends AddClusterProps {
  /** The Sluice that looks after the cluster. */
  readonly sluice: SluiceService;
}

/** The time limit of one attempt to install definitions, as in the function's row in functions.ts. Lambda makes three. */
const serviceTimeout = Duration.minutes(25);

/** An existing cluster that a Sluice looks after: access for its functions, and the definitions of Sluice's kinds in the cluster. */
export class SluiceCluster extends Construct {
  /** `arn:aws:eks:<region>:<account>:cluster/<name>`, a literal. */
  readonly arn: string;
  readonly sluice: SluiceService;
  readonly network: string;
  /** The one role that all functions assume to enter it; undefined where each has its own. */
  readonly role: string | undefined;
  private readonly roles: ClusterRoles | undefined;
  /** Done once the cluster serves Sluice's kinds; undefined where custom resources are left out. */
  readonly definitions: CustomResource | undefined;
  private configurationEntry: CfnAccessEntry | undefined;
  private readonly reconcileEntry: CfnAccessEntry | undefined;

  constructor(scope: Construct, id: string, props: SluiceClusterProps) {
    super(scope, id);
    const { cluster, decryptionKeys, maxRuns, network = defaultNetwork, role, roles, sluice, targets } = props;
    const { cloudWatchRegions, notificationTargets } = props;
    checkRights(this, props.rights);
    checkRoles(this, props);
    this.arn = literalClusterArn(this, props);
    this.sluice = sluice;
    this.network = network;
    this.role = role;
    this.roles = roles;
    sluice.serveCluster({
      arn: this.arn,
      network,
      rights: props.rights,
      ...(role === undefined ? {} : { role }),
      ...(roles === undefined ? {} : { roles }),
      ...(maxRuns === undefined ? {} : { maxRuns }),
      ...(decryptionKeys === undefined ? {} : { decryptionKeys }),
      ...(targets === undefined ? {} : { targets }),
      ...(notificationTargets === undefined ? {} : { notificationTargets }),
      ...(cloudWatchRegions === undefined ? {} : { cloudWatchRegions }),
    });
    const installs = sluice.emulated ? undefined : sluice.functionFor("definitions", network);
    refuseUnreachable(this, cluster, installs, network);
    const reachedBy = [...openEndpoint(this, props), ...sluice.networkEndpoints(network)];
    const entries = this.hasOwnEntries() ? this.accessEntries(props, installs) : undefined;
    this.reconcileEntry = entries?.reconcile;
    if (cluster !== undefined) this.node.addDependency(cluster);
    if (roles instanceof SluiceClusterRoles) this.node.addDependency(roles);
    if (installs === undefined) return;
    const reach = this.mayReach(installs, "definitions");
    // CloudFormation changes no service token: in another network it is another resource, which takes the cluster over.
    this.definitions = new CustomResource(
      this,
      network === defaultNetwork ? "Definitions" : `Definitions${pascalCase(network)}`,
      {
        serviceToken: installs.alias.functionArn,
        resourceType: "Custom::SluiceDefinitions",
        serviceTimeout,
        properties: {
          cluster: this.arn,
          ...this.enteredBy("definitions"),
          installation: this.installation,
          ...this.admission(installs),
          version: ownVersion,
          // New code is run once, also within a version.
          code: digestOf(join(bundleFolder("definitions"), "index.mjs")),
          onDelete: props.onDelete ?? "keep",
        },
      },
    );
    // What leads to the cluster is there before, and goes after the cluster is given up.
    this.definitions.node.addDependency(installs, reach, ...reachedBy);
    if (entries === undefined) return;
    if (entries.definitions !== undefined) this.definitions.node.addDependency(entries.definitions);
    if (entries.receiver !== undefined) this.definitions.node.addDependency(entries.receiver);
    if (entries.notify !== undefined) this.definitions.node.addDependency(entries.notify);
    // When the cluster leaves the stack, reconcile is out before the cluster is given up: it would take it again.
    entries.reconcile.node.addDependency(this.definitions);
  }

  /** Kubernetes' version, as EKS named it at the last deployment. */
  get kubernetesVersion(): string {
    return this.definitions?.getAttString("KubernetesVersion") ?? "unknown";
  }

  /** What the last deployment had to say about the cluster; empty if nothing. */
  get notice(): string {
    return this.definitions?.getAttString("Notice") ?? "";
  }

  /** The owner of the cluster as its functions know it: `<account>/<region>/<table>`. */
  get installation(): string {
    const { account, region } = Stack.of(this.sluice);
    return `${account}/${region}/${this.sluice.table.tableName}`;
  }

  /** For the properties of custom resources: the role by which a function of deployments enters. Throws if it has none and needs one. */
  enteredBy(name: "definitions" | "configuration"): { readonly role?: string } {
    const role = this.roles === undefined ? this.role : this.roles[name];
    if (role !== undefined) return { role };
    if (this.roles === undefined) return {};
    throw new Error(
      `${this.node.path}: roles has no role for the function ${name}, which a SluiceConfiguration of this cluster needs: write roles.${name}, or configurations: true in SluiceClusterRoles`,
    );
  }

  /** Lets the configuration function in, and answers it and what has to be there before it is called. */
  configurationAccess(): { readonly function: ServiceFunction; readonly access: readonly Construct[] } {
    const applies = this.sluice.functionFor("configuration", this.network);
    const reach = this.mayReach(applies, "configuration");
    if (this.configurationEntry === undefined && this.hasOwnEntries()) {
      this.configurationEntry = this.entry("ConfigurationAccess", applies.role.roleArn, "sluice-configuration", false);
    }
    const before = [this.definitions, this.reconcileEntry, this.configurationEntry, reach];
    return { function: applies, access: before.filter((one) => one !== undefined) };
  }

  /** Lets a function of deployments find the cluster; what the function does for it depends on the policy. */
  private mayReach(deployed: ServiceFunction, name: "definitions" | "configuration"): Policy {
    const { arn, sluice } = this;
    return reachPolicy(this, { arn, assumed: this.enteredBy(name).role, function: deployed, name, sluice });
  }

  /** What the definitions function installs the admission webhook by, and the right to read its secret. Without it, it removes one. */
  private admission({ role }: ServiceFunction): { readonly admission?: Readonly<Record<string, string>> } {
    const { admissionWebhook } = this.sluice;
    if (admissionWebhook === undefined) return {};
    const { secret, selector, url } = admissionWebhook;
    role.addToPrincipalPolicy(allow("", ["secretsmanager:GetSecretValue"], [secret.secretArn]));
    return { admission: { url, secret: secret.secretArn, ...(selector === undefined ? {} : { selector }) } };
  }

  /** Whether the functions' own roles enter, and their access entries can be made here: in the cluster's account and region. */
  private hasOwnEntries(): boolean {
    if (this.role !== undefined || this.roles !== undefined) return false;
    const [, , , region, account] = this.arn.split(":");
    const own = Stack.of(this);
    const isOwn = (one: string, other: string | undefined) => Token.isUnresolved(one) || one === other;
    return isOwn(own.account, account) && isOwn(own.region, region);
  }

  private entry(id: string, principalArn: string, group: Holder, isAdmin: boolean): CfnAccessEntry {
    return accessEntry(this, id, { cluster: this.arn, principalArn, group, isAdmin });
  }

  private accessEntries(
    { definitionsRights = "clusterAdmin", rights }: SluiceClusterProps,
    installs: ServiceFunction | undefined,
  ): {
    readonly reconcile: CfnAccessEntry;
    readonly definitions: CfnAccessEntry | undefined;
    readonly receiver: CfnAccessEntry | undefined;
    readonly notify: CfnAccessEntry | undefined;
  } {
    const { network, sluice } = this;
    const reconcile = this.entry(
      "ReconcileAccess",
      sluice.reconcileRole(network).roleArn,
      "sluice-reconcile",
      rights === "clusterAdmin",
    );
    const receives = sluice.receiverRole(network);
    const receiver =
      receives === undefined ? undefined : this.entry("ReceiverAccess", receives.roleArn, "sluice-receiver", false);
    const notifies = sluice.notifyRole(network);
    const notify =
      notifies === undefined ? undefined : this.entry("NotifyAccess", notifies.roleArn, "sluice-notify", false);
    if (installs === undefined) return { reconcile, definitions: undefined, receiver, notify };
    const isAdmin = definitionsRights === "clusterAdmin";
    const definitions = this.entry("DefinitionsAccess", installs.role.roleArn, "sluice-definitions", isAdmin);
    return { reconcile, definitions, receiver, notify };
  }
}

/** Throws if it is not said by which role each function enters. */
function checkRoles(scope: Construct, { rights, role, roles }: SluiceClusterProps): void {
  if (role !== undefined && roles !== undefined) {
    throw new Error(`${scope.node.path} has role and roles: keep one of the two`);
  }
  if (roles instanceof SluiceClusterRoles && roles.rights !== rights) {
    throw new Error(
      `${scope.node.path} has the rights "${rights}", and its roles ${roles.node.path} have "${roles.rights}": write the same in both`,
    );
  }
}

function digestOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 32);
}
