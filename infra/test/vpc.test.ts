import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Stack } from "aws-cdk-lib";
import {
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  SecurityGroup,
  SubnetType,
  Vpc,
  type VpcProps,
} from "aws-cdk-lib/aws-ec2";
import * as eks from "aws-cdk-lib/aws-eks";
import * as eksV2 from "aws-cdk-lib/aws-eks-v2";
import { describe, expect, test } from "vitest";
import type { AddClusterProps } from "../lib/cluster.ts";
import type { SluiceNetwork } from "../lib/networks.ts";
import { Sluice } from "../lib/sluice.ts";
import { neededEndpoints } from "../lib/vpc-endpoints.ts";
import { env, prod, resourcesOf, templateOf, uncheckedApp } from "./synthesise.ts";

const availabilityZones = ["eu-west-1a", "eu-west-1b"];
const vpcId = "vpc-0123456789abcdef0";
const root = join(import.meta.dirname, "../..");

/** A Sluice in one network `internal`, which looks after one cluster there. */
function inside(
  vpcOf: (stack: Stack) => SluiceNetwork,
  clusterOf: (stack: Stack, network: SluiceNetwork) => Partial<AddClusterProps> = () => ({}),
) {
  const stack = new Stack(uncheckedApp(), "Test", { env });
  const network = vpcOf(stack);
  const sluice = new Sluice(stack, "Sluice", { webhooks: true, networks: { internal: network } });
  const given = clusterOf(stack, network);
  sluice.addCluster("Prod", { clusterArn: prod, rights: "clusterAdmin", network: "internal", ...given });
  return { stack, sluice };
}

const withEgress = (stack: Stack): SluiceNetwork => ({ vpc: new Vpc(stack, "Vpc", { availabilityZones }) });

describe("the functions of a network", () => {
  test("share one security group, which the Sluice exposes as its connections", () => {
    const { stack, sluice } = inside(withEgress);
    const [group, ...others] = sluice.connections.securityGroups;
    expect(others).toEqual([]);
    const functions = Object.values(resourcesOf(templateOf(stack), "AWS::Lambda::Function")).filter(
      ({ Properties }) => Properties["VpcConfig"] !== undefined,
    );
    expect(functions).toHaveLength(3);
    for (const { Properties } of functions) {
      expect(Properties["VpcConfig"]).toMatchObject({ SecurityGroupIds: [stack.resolve(group?.securityGroupId)] });
    }
  });

  test("have no connections if no network is in a VPC, and the error says so", () => {
    const sluice = new Sluice(new Stack(uncheckedApp(), "Test", { env }), "Sluice");
    expect(() => sluice.connections).toThrow("Test/Sluice is in no VPC, so it has no security groups");
  });
});

describe("the endpoint of a cluster is opened at port 443 to the functions of its network:", () => {
  const ingress = (stack: Stack) =>
    Object.values(resourcesOf(templateOf(stack), "AWS::EC2::SecurityGroupIngress"))
      .map(({ Properties }) => Properties)
      .filter((one) => String(one["Description"]).startsWith("Sluice:"));
  const warnings = (stack: Stack) =>
    stack.node
      .findAll()
      .flatMap(({ node }) => node.metadata.map(({ data }) => String(data)))
      .filter((data) => data.includes("@sluice/cdk:clusterSecurityGroup"));

  test.each([
    { from: "made in this app", Cluster: eks.Cluster },
    { from: "aws-eks-v2", Cluster: eksV2.Cluster },
  ])("imported by $from with its security group", ({ Cluster }) => {
    const { stack, sluice } = inside(withEgress, (stack) => ({
      cluster: Cluster.fromClusterAttributes(stack, "C", {
        clusterName: "prod",
        clusterSecurityGroupId: "sg-0123456789abcdef0",
      }),
    }));
    expect(ingress(stack)).toMatchObject([
      {
        GroupId: "sg-0123456789abcdef0",
        SourceSecurityGroupId: stack.resolve(sluice.connections.securityGroups[0]?.securityGroupId),
        IpProtocol: "tcp",
        FromPort: 443,
        ToPort: 443,
      },
    ]);
    expect(warnings(stack)).toEqual([]);
  });

  test("made in another stack of this app, which does not depend on the Sluice", () => {
    const app = uncheckedApp();
    const below = new Stack(app, "Below", { env });
    const vpc = new Vpc(below, "Vpc", { availabilityZones });
    const cluster = new eksV2.Cluster(below, "C", {
      version: eksV2.KubernetesVersion.V1_33,
      clusterName: "prod",
      vpc,
      endpointAccess: eksV2.EndpointAccess.PRIVATE,
    });
    const stack = new Stack(app, "Test", { env });
    const sluice = new Sluice(stack, "Sluice", { networks: { internal: { vpc } } });
    sluice.addCluster("Prod", { cluster, clusterArn: prod, rights: "clusterAdmin", network: "internal" });
    expect(ingress(stack)).toHaveLength(1);
    expect(JSON.stringify(ingress(stack)[0]?.["GroupId"])).toContain("ClusterSecurityGroupId");
    expect([stack.dependencies, below.dependencies]).toEqual([[below], []]);
  });

  test("named by its ARN with a security group, from a group without outbound rules", () => {
    const { stack } = inside(
      (stack) => {
        const vpc = new Vpc(stack, "Vpc", { availabilityZones });
        return { vpc, securityGroups: [new SecurityGroup(stack, "Own", { vpc, allowAllOutbound: false })] };
      },
      (stack) => ({
        clusterSecurityGroup: SecurityGroup.fromSecurityGroupId(stack, "Of", "sg-0123456789abcdef0"),
      }),
    );
    expect(ingress(stack)).toHaveLength(1);
    const egress = Object.values(resourcesOf(templateOf(stack), "AWS::EC2::SecurityGroupEgress"));
    expect(egress.map(({ Properties }) => Properties)).toMatchObject([
      { DestinationSecurityGroupId: "sg-0123456789abcdef0", FromPort: 443 },
    ]);
  });

  test.each([
    { how: "named by its ARN alone", clusterOf: () => ({}) },
    {
      how: "imported without a security group",
      clusterOf: (stack: Stack) => ({
        cluster: eksV2.Cluster.fromClusterAttributes(stack, "C", { clusterName: "prod" }),
      }),
    },
  ])("$how it is not, and synth warns with a mend", ({ clusterOf }) => {
    const { stack } = inside(withEgress, clusterOf);
    expect(ingress(stack)).toEqual([]);
    expect(warnings(stack)).toHaveLength(1);
    expect(warnings(stack)[0]).toContain("write clusterSecurityGroup");
  });
});

describe("isolated subnets", () => {
  const isolated = [{ name: "isolated", subnetType: SubnetType.PRIVATE_ISOLATED }];
  const { ECR, ECR_DOCKER, EKS, KMS, SECRETS_MANAGER, SQS, STS } = InterfaceVpcEndpointAwsService;
  const gatewayEndpoints: VpcProps["gatewayEndpoints"] = {
    DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
    S3: { service: GatewayVpcEndpointAwsService.S3 },
  };
  const imported = (stack: Stack) =>
    Vpc.fromVpcAttributes(stack, "Vpc", { vpcId, availabilityZones, isolatedSubnetIds: ["subnet-1", "subnet-2"] });

  test.each([
    {
      of: "made in the app",
      vpcOf: (stack: Stack) => new Vpc(stack, "Vpc", { availabilityZones, subnetConfiguration: isolated }),
    },
    { of: "imported", vpcOf: imported },
  ])("of a VPC that is $of are refused without endpoints, each of which is named", ({ vpcOf }) => {
    const { stack } = inside((stack) => ({ vpc: vpcOf(stack) }));
    expect(() => templateOf(stack)).toThrow(
      /the network "internal" is in isolated subnets of Test\/Vpc, and dynamodb \(gateway\), s3 \(gateway\), sqs \(interface\), secretsmanager \(interface\), eks \(interface\) cannot be reached from there: add the endpoints \(docs\/vpc.md\)/,
    );
  });

  test("are accepted with the endpoints that the installation needs, and more features need more endpoints", () => {
    const keys = {
      decryptionKeys: { apps: ["arn:aws:kms:eu-west-1:123456789012:key/1+arn:aws:iam::123456789012:role/a"] },
    };
    const withKeys = (services: Readonly<Record<string, InterfaceVpcEndpointAwsService>>) => {
      const { stack, sluice } = inside(
        (stack) => {
          const vpc = new Vpc(stack, "Vpc", { availabilityZones, subnetConfiguration: isolated, gatewayEndpoints });
          for (const [id, service] of Object.entries(services)) vpc.addInterfaceEndpoint(id, { service });
          return { vpc };
        },
        () => keys,
      );
      sluice.allowRepository(prod, "apps", "123456789012.dkr.ecr.eu-west-1.amazonaws.com/apps");
      return stack;
    };
    expect(() => templateOf(withKeys({ EKS, SQS, SECRETS_MANAGER }))).toThrow(
      "sts (interface), kms (interface), ecr.api (interface), ecr.dkr (interface) cannot be reached from there: add",
    );
    expect(() => templateOf(withKeys({ EKS, SQS, SECRETS_MANAGER, STS, KMS, ECR, ECR_DOCKER }))).not.toThrow();
  });

  test("are accepted if the endpoints are created elsewhere, and other subnets of the same VPC need none", () => {
    const elsewhere = inside((stack) => ({ vpc: imported(stack), endpointsElsewhere: true }));
    expect(() => templateOf(elsewhere.stack)).not.toThrow();
    const both = inside((stack) => ({
      vpc: new Vpc(stack, "Vpc", {
        availabilityZones,
        subnetConfiguration: [
          ...isolated,
          { name: "public", subnetType: SubnetType.PUBLIC },
          { name: "private", subnetType: SubnetType.PRIVATE_WITH_EGRESS },
        ],
      }),
    }));
    expect(() => templateOf(both.stack)).not.toThrow();
  });
});

describe("docs/vpc.md", () => {
  test("lists an endpoint for every AWS SDK client that the code of the functions imports, and for no other", () => {
    const folders = ["lib", "functions"].map((folder) => join(root, folder));
    const sources = folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => readFileSync(join(folder, name), "utf8")),
    );
    const imported = sources.flatMap((text) => text.match(/@aws-sdk\/client-[a-z0-9-]+/g) ?? []);
    const listed = neededEndpoints.flatMap(({ client }) => client ?? []);
    expect([...new Set(imported)].toSorted()).toEqual(listed.toSorted());
  });

  test("is up to date with the code", async () => {
    const file = join(root, "docs/vpc.md");
    const needs = {
      roles: "with roles",
      decryptionKeys: "with `decryptionKeys`",
      ecr: "with repositories of ECR",
      codecommit: "with repositories of CodeCommit",
      sns: "with topics in `notificationTargets`",
      events: "with buses in `notificationTargets`",
      cloudWatch: "with `cloudWatchRegions`",
    };
    const rows = neededEndpoints.map(
      ({ service, type, neededBy, why }) =>
        `| \`com.amazonaws.<region>.${service}\` | ${type} | ${neededBy === undefined ? "always" : needs[neededBy]} | ${why} |`,
    );
    const table = ["| endpoint | type | needed | for |", "| --- | --- | --- | --- |", ...rows].join("\n");
    const text = readFileSync(file, "utf8");
    const filled = text.replace(
      /(<!-- endpoints: [^\n]*-->\n)[^]*(<!-- \/endpoints -->)/,
      (_, begin, end) => `${begin}\n${table}\n\n${end}`,
    );
    await expect(filled).toMatchFileSnapshot(file);
  });
});
