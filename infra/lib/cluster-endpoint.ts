import { Annotations, Stack } from "aws-cdk-lib";
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
 * cluster does not depend on it. Warns where the network is in a VPC and no security group of the cluster is known.
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
): void {
  const functions = sluice.networkConnections(network);
  if (functions === undefined) return;
  const [endpoint] = clusterSecurityGroup === undefined ? groupsOf(cluster) : [clusterSecurityGroup];
  if (endpoint === undefined) {
    Annotations.of(scope).addWarningV2(
      "@sluice/cdk:clusterSecurityGroup",
      `nobody opens the endpoint of the cluster to the functions of the network "${network}", since no security group of the cluster is known: write clusterSecurityGroup, or open port 443 of the cluster to the security group of the network yourself`,
    );
    return;
  }
  const port = { ipProtocol: "tcp", fromPort: 443, toPort: 443 };
  functions.securityGroups.forEach((group, index) => {
    new CfnSecurityGroupIngress(scope, `EndpointFromFunctions${index}`, {
      ...port,
      groupId: endpoint.securityGroupId,
      sourceSecurityGroupId: group.securityGroupId,
      description: `Sluice: the functions of the network ${network}`,
    });
    if (group.allowAllOutbound) return;
    new CfnSecurityGroupEgress(scope, `FunctionsToEndpoint${index}`, {
      ...port,
      groupId: group.securityGroupId,
      destinationSecurityGroupId: endpoint.securityGroupId,
      description: "Sluice: the endpoint of the cluster",
    });
  });
}

/** Those of a cluster of `aws-eks` or `aws-eks-v2`: the cluster's own first. An imported one has those that it was imported with. */
function groupsOf(cluster: IClusterRef | undefined): readonly ISecurityGroup[] {
  if (cluster === undefined || !isConnectable(cluster)) return [];
  return cluster.connections.securityGroups;
}

function isConnectable(cluster: IClusterRef): cluster is IClusterRef & { readonly connections: Connections } {
  return "connections" in cluster && typeof cluster.connections === "object" && cluster.connections !== null;
}

/** Refuses a cluster of this app whose endpoint is only in its VPC, if the network is in none. Of others, the deployment tells. */
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
