import { CfnAccessEntry } from "aws-cdk-lib/aws-eks";
import type { Construct } from "constructs";
import type { Holder } from "../../lib/definitions/cluster-rights.ts";

/** What Sluice may do in a cluster. */
export type ClusterRights = "clusterAdmin" | "namespaces";

/** Throws for unknown rights: apps in plain JavaScript may give any text, and a wrong one must not mean every right. */
export function checkRights(scope: Construct, rights: string): void {
  if (rights === "clusterAdmin" || rights === "namespaces") return;
  throw new Error(
    `${scope.node.path}: the rights "${rights}" are not known: write rights: "clusterAdmin" or rights: "namespaces"`,
  );
}

/**
 * Lets a role into a cluster of EKS of the stack's account and region, as a member of a group of Kubernetes.
 *
 * @param isAdmin with every right in the cluster besides
 */
export function accessEntry(
  scope: Construct,
  id: string,
  {
    cluster,
    principalArn,
    group,
    isAdmin,
  }: { readonly cluster: string; readonly principalArn: string; readonly group: Holder; readonly isAdmin: boolean },
): CfnAccessEntry {
  return new CfnAccessEntry(scope, id, {
    clusterName: cluster.slice(cluster.indexOf("/") + 1),
    principalArn,
    type: "STANDARD",
    kubernetesGroups: [group],
    accessPolicies: isAdmin ? [clusterAdminPolicy(cluster)] : [],
  });
}

/** Everything in a cluster: the one policy of EKS that includes definitions and roles. */
function clusterAdminPolicy(arn: string): CfnAccessEntry.AccessPolicyProperty {
  const [, partition = "aws"] = arn.split(":");
  const policyArn = `arn:${partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy`;
  return { policyArn, accessScope: { type: "cluster" } };
}
