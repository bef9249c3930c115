import { createHash } from "node:crypto";
import { Stack } from "aws-cdk-lib";
import { type IRole, Policy } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { acknowledgeWildcard, allow } from "./access.ts";
import { pascalCase } from "./queues.ts";
import type { ServiceFunction, SluiceService } from "./service.ts";

/** What lets a function of deployments find one cluster. */
export interface Reach {
  readonly name: "definitions" | "configuration";
  readonly function: ServiceFunction;
  readonly sluice: SluiceService;
  /** `arn:aws:eks:<region>:<account>:cluster/<name>`, a literal. */
  readonly arn: string;
  /** ARN of the role by which the function enters the cluster. Default: none, the function's own role enters. */
  readonly assumed: string | undefined;
}

/** The share of a role's inline policies, which have 10,240 characters; the rest is for the function's other rights. */
const maxReachChars = 8_000;
const reachChars = new WeakMap<IRole, number>();

/**
 * The policy by which a function of deployments finds a cluster, apart from the role's other rights: what the function does for a cluster
 * has to depend on it. When the cluster leaves the stack, CloudFormation changes policies that stay before it asks for the deletion, and
 * deletes this one after it. Clusters that need the same right share the policy. Throws where clusters have too many roles.
 */
export function reachPolicy(scope: Construct, { arn, assumed, function: { role }, name, sluice }: Reach): Policy {
  const owner = Stack.of(scope) === Stack.of(sluice) ? sluice : Stack.of(scope);
  // For all clusters of the account and region, so that many of them need few characters.
  const described = `${arn.slice(0, arn.indexOf("/"))}/*`;
  const id = `${pascalCase(name)}Reach${digestOf(`${role.node.path} ${assumed ?? described}`)}`;
  const known = owner.node.tryFindChild(id);
  if (known instanceof Policy) return known;
  const statement =
    assumed === undefined ? allow("", ["eks:DescribeCluster"], [described]) : allow("", ["sts:AssumeRole"], [assumed]);
  const chars = (reachChars.get(role) ?? 0) + JSON.stringify({ Version: "2012-10-17", Statement: [statement] }).length;
  if (chars > maxReachChars) {
    throw new Error(
      `${scope.node.path}: the function ${name} of its network enters too many clusters by roles, and IAM limits the policies of its role to 10,240 characters: give the cluster to another of networks, which has a function of its own, or to a second Sluice`,
    );
  }
  reachChars.set(role, chars);
  const policy = new Policy(owner, id, { roles: [role], statements: [statement] });
  if (assumed === undefined)
    acknowledgeWildcard(policy, described, "One right for all clusters of an account and region");
  return policy;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
