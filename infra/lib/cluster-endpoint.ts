import { createHash } from "node:crypto";
import { Annotations, Stack, Token } from "aws-cdk-lib";
import {
  CfnSecurityGroupEgress,
  CfnSecurityGroupIngress,
  type Connections,
  type ISecurityGroup,
} from "aws-cdk-lib/aws-ec2";
import { CfnCluster, type IClusterRef } from "aws-cdk-lib/aws-eks";
import type { Construct } from "constructs";
import { defaultNetwork, type ServiceFunction, type SluiceService } from "./service.ts";

/**
 * Opens port 443 of a cluster to the functions of its network. The rules are made here, in the Sluice's stack, so that the stack of the
 * cluster does not depend on it; clusters that share a security group share the rules, since EC2 refuses a second one that is equal. Warns
 * where the network is in a VPC and no security group of the cluster is known. Answers the rules.
 */
export function openEndpoint(
  scope: Construct,
  {
    cluster,
    clusterSecurityGroup,
    network = defaultNetwork,
    sluice,
  }: {
    readonly cluster?: IClusterRef;
    readonly clusterSecurityGroup?: ISecurityGroup;
    readonly network?: string;
    readonly sluice: SluiceService;
  },
): readonly Construct[] {
  const functions = sluice.networkConnections(network);
  if (functions === undefined) return [];
  const [endpoint] = clusterSecurityGroup === undefined ? groupsOf(cluster) : [clusterSecurityGroup];
  if (endpoint === undefined) {
    Annotations.of(scope).addWarningV2(
      "@sluice/cdk:clusterSecurityGroup",
      `if the endpoint of the cluster is private, it is closed to the functions of the network "${network}", since no security group of the cluster is known: write clusterSecurityGroup (securityGroup in cdk.json), or open port 443 of the cluster to the security group of the network yourself`,
    );
    return [];
  }
  const port = { ipProtocol: "tcp", fromPort: 443, toPort: 443 };
  const { securityGroupId } = endpoint;
  const isLiteral = !Token.isUnresolved(securityGroupId);
  const owner = isLiteral ? sluice : scope;
  const suffix = isLiteral ? digestOf(`${network} ${securityGroupId}`) : "";
  return functions.securityGroups.flatMap((group, index) => {
    const known = owner.node.tryFindChild(`EndpointFromFunctions${suffix}${index}`);
    if (known !== undefined) return [known];
    const ingress = new CfnSecurityGroupIngress(owner, `EndpointFromFunctions${suffix}${index}`, {
      ...port,
      groupId: securityGroupId,
      sourceSecurityGroupId: group.securityGroupId,
      description: `Sluice: the functions of the network ${network}`,
    });
    if (group.allowAllOutbound) return [ingress];
    const egress = new CfnSecurityGroupEgress(owner, `FunctionsToEndpoint${suffix}${index}`, {
      ...port,
      groupId: group.securityGroupId,
      destinationSecurityGroupId: securityGroupId,
      description: "Sluice: the endpoint of the cluster",
    });
    return [ingress, egress];
  });
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/**
 * The security groups of a cluster of `aws-eks` or `aws-eks-v2`: the cluster's own first. An imported one has those that it was
 * imported with.
 */
function groupsOf(cluster: IClusterRef | undefined): readonly ISecurityGroup[] {
  if (cluster === undefined || !isConnectable(cluster)) return [];
  return cluster.connections.securityGroups;
}

function isConnectable(cluster: IClusterRef): cluster is IClusterRef & { readonly connections: Connections } {
  return "connections" in cluster && typeof cluster.connections === "object" && cluster.connections !== null;
}

/**
 * Refuses a cluster of this app whose endpoint is only in its VPC, if the network is in none. For other clusters, the deployment
 * finds out.
 */
export function refuseUnreachable(
  scope: Construct,
  cluster: IClusterRef | undefined,
  installs: ServiceFunction | undefined,
  network: string,
): void {
  const made = cluster?.node.findAll().find((one) => CfnCluster.isCfnCluster(one));
  const access: unknown = made === undefined ? undefined : Stack.of(scope).resolve(made.resourcesVpcConfig);
  const isPrivate =
    typeof access === "object" &&
    access !== null &&
    "endpointPublicAccess" in access &&
    access.endpointPublicAccess === false;
  if (!isPrivate || installs === undefined || installs.function.isBoundToVpc) return;
  throw new Error(
    `${scope.node.path}: the endpoint of the cluster is private, and the network "${network}" is in no VPC: add the VPC to the property networks of the Sluice, and name that network here`,
  );
}
