import { Token } from "aws-cdk-lib";
import type { IClusterRef } from "aws-cdk-lib/aws-eks";
import { RegionInfo } from "aws-cdk-lib/region-info";
import type { Construct } from "constructs";

/** The ARN of a cluster without tokens, since the functions are told of clusters by a file. Throws if none is known. */
export function literalClusterArn(
  scope: Construct,
  { cluster, clusterArn }: { readonly cluster?: IClusterRef; readonly clusterArn?: string },
): string {
  if (clusterArn !== undefined) return clusterArn;
  if (cluster === undefined) {
    throw new Error(`${scope.node.path} names no cluster: write cluster or clusterArn`);
  }
  const { clusterArn: arn, clusterName: name } = cluster.clusterRef;
  if (!Token.isUnresolved(arn)) return arn;
  const { account, region } = cluster.env;
  if (![name, account, region].some((value) => Token.isUnresolved(value))) {
    const partition = RegionInfo.get(region).partition ?? "aws";
    return `arn:${partition}:eks:${region}:${account}:cluster/${name}`;
  }
  throw new Error(
    `${scope.node.path}: the ARN of the cluster ${cluster.node.path} is known only while it is deployed, and the functions learn of clusters from a file that is written before: give the stack an env with account and region and the cluster a clusterName, and write clusterArn: "arn:aws:eks:<region>:<account>:cluster/<name>" as well`,
  );
}
