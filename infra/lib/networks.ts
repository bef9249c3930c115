import { Connections, type ISecurityGroup, type IVpc, SecurityGroup, type SubnetSelection } from "aws-cdk-lib/aws-ec2";
import { Construct } from "constructs";
import { maxNetworks, networkPattern } from "../../functions/settings/installation.ts";
import { pascalCase } from "./queues.ts";
import { defaultNetwork } from "./service.ts";
import { areIsolated, missingEndpoints, type NeededEndpoint } from "./vpc-endpoints.ts";

/** Where a function runs that has to reach endpoints inside a VPC. */
export interface SluiceNetwork {
  readonly vpc: IVpc;
  /** Default: the VPC's private subnets with a way out. */
  readonly subnets?: SubnetSelection;
  /** Default: one for all functions of the network, which lets everything out and nothing in. */
  readonly securityGroups?: readonly ISecurityGroup[];
  /**
   * That the functions reach the services of AWS in another way than by VPC endpoints of this app: endpoints that are made elsewhere
   * (docs/vpc.md), a transit gateway, a firewall. Default: false, and isolated subnets without the endpoints are refused.
   */
  readonly endpointsElsewhere?: boolean;
}

/** A network of a Sluice: where its functions run, and the security groups that they share. */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection | undefined;
  readonly securityGroups: readonly ISecurityGroup[];
  readonly connections: Connections;

  /**
   * @param needed the endpoints that functions of this network need, asked for when the app is known
   */
  constructor(scope: Construct, name: string, network: SluiceNetwork, needed: () => readonly NeededEndpoint[]) {
    super(scope, `${pascalCase(name)}Network`);
    const { endpointsElsewhere = false, subnets, vpc } = network;
    this.vpc = vpc;
    this.subnets = subnets;
    this.securityGroups = network.securityGroups ?? [
      new SecurityGroup(this, "SecurityGroup", {
        vpc,
        description: `Sluice: the functions of the network ${name}`,
      }),
    ];
    this.connections = new Connections({ securityGroups: [...this.securityGroups] });
    const { subnetIds } = vpc.selectSubnets(subnets);
    if (endpointsElsewhere || !areIsolated(vpc, subnetIds)) return;
    this.node.addValidation({
      validate: () => {
        const missing = missingEndpoints(vpc, needed()).map(({ service, type }) => `${service} (${type})`);
        if (missing.length === 0) return [];
        return [
          `the network "${name}" is in isolated subnets of ${vpc.node.path}, and ${missing.join(", ")} cannot be reached from there: add the endpoints (docs/vpc.md), choose subnets with a NAT gateway, or write endpointsElsewhere: true if there is another way`,
        ];
      },
    });
  }
}

/** Throws if networks cannot be called so: each is part of names of resources, and an entry of the environment of every function. */
export function checkNetworks({ node }: Construct, names: readonly string[]): void {
  const wrong = names.find((name) => !networkPattern.test(name));
  if (wrong !== undefined) {
    throw new Error(`${node.path} has the network "${wrong}": write letters, digits and hyphens, 32 at most`);
  }
  const alike = names.find((name, index) => names.findIndex((other) => pascalCase(other) === pascalCase(name)) < index);
  if (alike !== undefined) {
    throw new Error(
      `${node.path} has the network "${alike}" and another one whose resources would get the same names: rename it`,
    );
  }
  if (names.length > maxNetworks) {
    throw new Error(
      `${node.path} has ${names.length} networks, ten at most are possible with "${defaultNetwork}": use a second Sluice for the others`,
    );
  }
}
