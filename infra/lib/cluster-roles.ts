import { createHash } from "node:crypto";
import { Stack, Token } from "aws-cdk-lib";
import type { IClusterRef } from "aws-cdk-lib/aws-eks";
import { AccountPrincipal, type IRole, Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import type { Holder } from "../../lib/definitions/cluster-rights.ts";
import { allow } from "./access.ts";
import { accessEntry, type ClusterRights, checkRights } from "./access-entries.ts";
import { literalClusterArn } from "./cluster-arn.ts";
import { type ClusterRoles, defaultNetwork, type SluiceService } from "./service.ts";

export interface SluiceClusterRolesProps {
  /** The cluster as a construct, of `aws-eks` or `aws-eks-v2`. Default: none, then `clusterArn` names it. */
  readonly cluster?: IClusterRef;
  /** `arn:aws:eks:<region>:<account>:cluster/<name>`, without tokens. Default: that of `cluster`. */
  readonly clusterArn?: string;
  /** What reconcile may do in the cluster, as in `addCluster`. */
  readonly rights: ClusterRights;
  /** Rights of the function that installs definitions, as in `addCluster`. Default: `clusterAdmin`. */
  readonly definitionsRights?: "clusterAdmin" | "group";
  /** The Sluice whose functions enter, if it is in the same app. Default: none, then `functionRoles` names the roles. */
  readonly sluice?: SluiceService;
  /** Which of the Sluice's `networks` reaches the cluster's endpoint. Default: `default`. */
  readonly network?: string;
  /** With `sluice`: whether it has a `SluiceConfiguration` for this cluster. Default: false, and no role is made for it. */
  readonly configurations?: boolean;
  /**
   * ARNs of the roles of the functions in the Sluice's account, if it is in another app:
   * `arn:aws:iam::<account>:role/<name>`, each the `Role` of a function in the Sluice's stack. A function that is left out gets no
   * role here. Default: those of `sluice`.
   */
  readonly functionRoles?: ClusterRoles;
}

/**
 * The roles by which the functions of a Sluice in another account or region enter a cluster, one for each function, in a stack of the
 * cluster's account and region; `addCluster` takes it as its property `roles`. Each role trusts exactly its function, may describe
 * this one cluster, and has the access entry that the function needs in it.
 */
export class SluiceClusterRoles extends Construct implements ClusterRoles {
  /** ARNs, literals: the functions are told of them by a file that is written at synth. */
  readonly reconcile: string;
  readonly definitions: string;
  readonly receiver: string | undefined;
  readonly notify: string | undefined;
  readonly configuration: string | undefined;
  readonly rights: ClusterRights;
  private readonly cluster: string;

  constructor(scope: Construct, id: string, props: SluiceClusterRolesProps) {
    super(scope, id);
    const { definitionsRights = "clusterAdmin", rights } = props;
    checkRights(this, rights);
    this.rights = rights;
    this.cluster = literalClusterArn(this, props);
    checkPlace(this, this.cluster);
    const { reconcile, definitions, receiver, notify, configuration } = functionRoles(this, props);
    this.reconcile = this.make("Reconcile", "sluice-reconcile", reconcile, rights === "clusterAdmin");
    this.definitions = this.make(
      "Definitions",
      "sluice-definitions",
      definitions,
      definitionsRights === "clusterAdmin",
    );
    this.receiver = receiver && this.make("Receiver", "sluice-receiver", receiver, false);
    this.notify = notify && this.make("Notify", "sluice-notify", notify, false);
    this.configuration = configuration && this.make("Configuration", "sluice-configuration", configuration, false);
  }

  /** One role that this function alone may assume. Answers its ARN. */
  private make(id: string, holder: Holder, trusted: TrustedRole, isAdmin: boolean): string {
    const { cluster } = this;
    const [, partition, , , account, resource = ""] = cluster.split(":");
    const clusterName = resource.slice("cluster/".length);
    // Known at synth, and no other: the same cluster may for a while be entered by two installations.
    const roleName = `${holder}-${clusterName.slice(0, maxNameChars)}-${digestOf(`${cluster} ${this.node.path}`)}`;
    const role = new Role(this, id, {
      roleName,
      description: `Sluice: ${holder} in the cluster ${clusterName}`,
      // IAM refuses a principal that does not exist, and the functions are deployed after these roles: so the account, and of it one role.
      assumedBy: new AccountPrincipal(trusted.account).withConditions({
        ArnEquals: { "aws:PrincipalArn": trusted.arn },
      }),
    });
    role.addToPolicy(allow("", ["eks:DescribeCluster"], [cluster]));
    accessEntry(this, `${id}Access`, { cluster, principalArn: role.roleArn, group: holder, isAdmin });
    return `arn:${partition}:iam::${account}:role/${roleName}`;
  }
}

/** The part of a cluster's name in the name of a role, which may have 64 characters. */
const maxNameChars = 30;

/** The role of a function, and the account of it. */
interface TrustedRole {
  readonly arn: string;
  readonly account: string;
}

function functionRoles(scope: Construct, props: SluiceClusterRolesProps) {
  const { configurations = false, functionRoles: named, network = defaultNetwork, sluice } = props;
  if ((sluice === undefined) === (named === undefined)) {
    throw new Error(
      `${scope.node.path}: give exactly one of sluice, in the same app, and functionRoles, of another app`,
    );
  }
  if (sluice === undefined) {
    const { reconcile, definitions, receiver, notify, configuration } = named ?? {};
    return {
      reconcile: namedRole(scope, "reconcile", reconcile),
      definitions: namedRole(scope, "definitions", definitions),
      receiver: receiver === undefined ? undefined : namedRole(scope, "receiver", receiver),
      notify: notify === undefined ? undefined : namedRole(scope, "notify", notify),
      configuration: configuration === undefined ? undefined : namedRole(scope, "configuration", configuration),
    };
  }
  const { account } = Stack.of(sluice);
  if (Token.isUnresolved(account)) {
    throw new Error(
      `${scope.node.path}: the account of the Sluice is known only while it is deployed: give its stack an env with account and region`,
    );
  }
  const roleOf = ({ roleArn }: IRole): TrustedRole => ({ arn: roleArn, account });
  const receiver = sluice.receiverRole(network);
  const notify = sluice.notifyRole(network);
  return {
    reconcile: roleOf(sluice.reconcileRole(network)),
    definitions: roleOf(sluice.functionFor("definitions", network).role),
    receiver: receiver === undefined ? undefined : roleOf(receiver),
    notify: notify === undefined ? undefined : roleOf(notify),
    configuration: configurations ? roleOf(sluice.functionFor("configuration", network).role) : undefined,
  };
}

function namedRole(scope: Construct, name: keyof ClusterRoles, arn: string | undefined): TrustedRole {
  const [, account] = /^arn:aws[\w-]*:iam::(\d{12}):role\/[\w+=,.@/-]+$/.exec(arn ?? "") ?? [];
  if (arn !== undefined && account !== undefined) return { arn, account };
  throw new Error(
    `${scope.node.path}: functionRoles.${name} ${arn === undefined ? "is missing" : `"${arn}" is not the ARN of a role`}: write arn:aws:iam::<account of the Sluice>:role/<name>, the role of that function in the Sluice's stack`,
  );
}

/** EKS makes access entries for clusters of the stack's own account and region, and describes a cluster only to its own account. */
function checkPlace(scope: Construct, cluster: string): void {
  const [, , , region, account] = cluster.split(":");
  const own = Stack.of(scope);
  const isOwn = (one: string, other: string | undefined) => Token.isUnresolved(one) || one === other;
  if (isOwn(own.account, account) && isOwn(own.region, region)) return;
  throw new Error(
    `${scope.node.path}: the cluster "${cluster}" is in ${account}/${region} and this stack in ${own.account}/${own.region}: put SluiceClusterRoles into a stack of the cluster's account and region`,
  );
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
