import { Stack } from "aws-cdk-lib";
import {
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  SecurityGroup,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { describe, expect, test } from "vitest";
import { Sluice } from "../lib/sluice.ts";
import { env, prod, resourcesOf, type TemplateFile, templateOf, uncheckedApp } from "./synthesise.ts";

const groupId = "sg-0123456789abcdef0";

/** A Sluice whose clusters of the network `internal` share a security group, in isolated subnets with all endpoints. */
function inside(names: readonly string[]): TemplateFile {
  const stack = new Stack(uncheckedApp(), "Test", { env });
  const vpc = new Vpc(stack, "Vpc", {
    availabilityZones: ["eu-west-1a"],
    subnetConfiguration: [{ name: "isolated", subnetType: SubnetType.PRIVATE_ISOLATED }],
    gatewayEndpoints: {
      DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      S3: { service: GatewayVpcEndpointAwsService.S3 },
    },
  });
  const { EKS, SECRETS_MANAGER, SQS } = InterfaceVpcEndpointAwsService;
  for (const [id, service] of Object.entries({ EKS, SECRETS_MANAGER, SQS })) vpc.addInterfaceEndpoint(id, { service });
  const subnets = { subnetType: SubnetType.PRIVATE_ISOLATED };
  const sluice = new Sluice(stack, "Sluice", { networks: { internal: { vpc, subnets } } });
  const clusterSecurityGroup = SecurityGroup.fromSecurityGroupId(stack, "Endpoint", groupId);
  for (const name of names) {
    const clusterArn = prod.replace("prod", name);
    sluice.addCluster(name, { clusterArn, rights: "namespaces", network: "internal", clusterSecurityGroup });
  }
  return templateOf(stack);
}

describe("a cluster with a private endpoint", () => {
  test("is detached before its rule and its VPC endpoints are deleted", () => {
    const template = inside(["prod"]);
    const [definitions] = Object.values(resourcesOf(template, "Custom::SluiceDefinitions"));
    const leading = ["AWS::EC2::SecurityGroupIngress", "AWS::EC2::VPCEndpoint"].flatMap((type) =>
      Object.keys(resourcesOf(template, type)).filter((id) => type.endsWith("VPCEndpoint") || id.startsWith("Sluice")),
    );
    expect(leading).toHaveLength(6);
    expect(definitions?.["DependsOn"]).toEqual(expect.arrayContaining(leading));
  });

  test("shares the rule with another cluster of the same security group, because EC2 accepts each rule once", () => {
    const rules = Object.values(resourcesOf(inside(["one", "two"]), "AWS::EC2::SecurityGroupIngress"));
    expect(rules.filter(({ Properties }) => Properties["GroupId"] === groupId)).toHaveLength(1);
  });

  test("becomes another resource in another network, because CloudFormation cannot change a service token", () => {
    const stack = new Stack(uncheckedApp(), "Test", { env });
    const sluice = new Sluice(stack, "Sluice");
    sluice.addCluster("prod", { clusterArn: prod, rights: "namespaces" });
    const [before] = Object.keys(resourcesOf(templateOf(stack), "Custom::SluiceDefinitions"));
    const [after] = Object.keys(resourcesOf(inside(["prod"]), "Custom::SluiceDefinitions"));
    expect([before, after]).toEqual([
      expect.stringMatching(/^SluiceprodDefinitions[0-9A-F]{8}$/),
      expect.stringMatching(/^SluiceprodDefinitionsInternal/),
    ]);
  });
});

test("function code in a VPC may not change network interfaces, which only Lambda creates", () => {
  const policies = Object.entries(resourcesOf(inside(["prod"]), "AWS::IAM::Policy")).filter(([id]) =>
    id.startsWith("SluiceReconcileInternalRole"),
  );
  expect(JSON.stringify(policies)).toContain('"Sid":"DenyJoinVpcToCode"');
  expect(JSON.stringify(policies)).toContain(
    '"Condition":{"Null":{"lambda:SourceFunctionArn":"false"}},"Effect":"Deny"',
  );
});
