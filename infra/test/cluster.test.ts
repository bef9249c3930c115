import { Stack, Token } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import * as eks from "aws-cdk-lib/aws-eks";
import * as eksV2 from "aws-cdk-lib/aws-eks-v2";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AddClusterProps, SluiceCluster } from "../lib/cluster.ts";
import { Sluice, type SluiceProps } from "../lib/sluice.ts";
import { uncheckedApp } from "./synthesise.ts";

const env = { account: "123456789012", region: "eu-west-1" };
const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const admin = {
  PolicyArn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
  AccessScope: { Type: "cluster" },
};

/** A stack with one Sluice that looks after one cluster. */
function templateOf(
  props: (stack: Stack) => Partial<AddClusterProps>,
  sluiceProps: (stack: Stack) => SluiceProps = () => ({}),
  context: Record<string, string> = {},
): Template {
  const stack = new Stack(uncheckedApp(context), "Test", { env });
  const sluice = new Sluice(stack, "Sluice", sluiceProps(stack));
  const given = { sluice, rights: "clusterAdmin", ...props(stack) } as const;
  new SluiceCluster(stack, "Prod", given);
  return Template.fromStack(stack);
}

/** What every way to name the cluster has to give. */
function looksAfterProd(template: Template, name: unknown = "prod"): void {
  template.hasResourceProperties("AWS::EKS::AccessEntry", {
    ClusterName: name,
    PrincipalArn: { "Fn::GetAtt": [Match.stringLikeRegexp("^SluiceReconcileRole"), "Arn"] },
    Type: "STANDARD",
    KubernetesGroups: ["sluice-reconcile"],
    AccessPolicies: [admin],
  });
  template.hasResourceProperties("AWS::EKS::AccessEntry", {
    ClusterName: name,
    PrincipalArn: { "Fn::GetAtt": [Match.stringLikeRegexp("^SluiceDefinitionsRole"), "Arn"] },
    KubernetesGroups: ["sluice-definitions"],
    AccessPolicies: [admin],
  });
  template.hasResource("Custom::SluiceDefinitions", {
    Properties: {
      ServiceToken: { Ref: Match.stringLikeRegexp("^SluiceDefinitionsLive") },
      ServiceTimeout: "1500",
      cluster: arn,
      installation: { "Fn::Join": ["", ["123456789012/eu-west-1/", { Ref: Match.anyValue() }]] },
      version: Match.stringLikeRegexp("^\\d+\\.\\d+\\.\\d+"),
      onDelete: "keep",
    },
    DependsOn: Match.arrayWith([
      Match.stringLikeRegexp("^ProdDefinitionsAccess"),
      Match.stringLikeRegexp("^SluiceDefinitionsRoleDefaultPolicy"),
      // It finds the cluster once more when that has left, also where it was the last of its account and region.
      Match.stringLikeRegexp("^SluiceDefinitionsReach"),
    ]),
  });
  // When the cluster leaves, reconcile is out before its owner is removed.
  template.hasResource("AWS::EKS::AccessEntry", {
    Properties: Match.objectLike({ KubernetesGroups: ["sluice-reconcile"] }),
    DependsOn: Match.arrayWith([Match.stringLikeRegexp("^ProdDefinitions")]),
  });
  const described = { Reconcile: arn, Definitions: arn.replace("/prod", "/*") };
  for (const [role, resource] of Object.entries(described)) {
    template.hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ Action: "eks:DescribeCluster", Resource: resource })]),
      },
      Roles: [{ Ref: Match.stringLikeRegexp(`^Sluice${role}Role`) }],
    });
  }
}

function countOf(template: Template, type: string): number {
  return Object.keys(template.findResources(type)).length;
}

const vpcOf = (stack: Stack) => new Vpc(stack, "Vpc", { availabilityZones: ["eu-west-1a", "eu-west-1b"] });

describe("a cluster", () => {
  test("by its ARN: access for both functions, and then the definitions", () => {
    const template = templateOf(() => ({ clusterArn: arn }));
    looksAfterProd(template);
    expect(countOf(template, "AWS::EKS::AccessEntry")).toBe(2);
  });

  test.each([
    { from: "aws-eks", Cluster: eks.Cluster },
    { from: "aws-eks-v2", Cluster: eksV2.Cluster },
  ])("imported by $from: the same", ({ Cluster }) => {
    const template = templateOf((stack) => ({
      cluster: Cluster.fromClusterAttributes(stack, "C", { clusterName: "prod" }),
    }));
    looksAfterProd(template);
    expect(countOf(template, "AWS::EKS::AccessEntry")).toBe(2);
  });

  test("of this app needs its full ARN, and is created before its definitions", () => {
    const made = (stack: Stack) =>
      new eksV2.Cluster(stack, "C", { version: eksV2.KubernetesVersion.V1_33, clusterName: "prod" });
    const template = templateOf((stack) => ({ cluster: made(stack), clusterArn: arn }));
    looksAfterProd(template);
    template.hasResource("Custom::SluiceDefinitions", {
      DependsOn: Match.arrayWith([Match.stringLikeRegexp("^C[0-9A-F]{8}$")]),
    });
    template.hasResource("AWS::EKS::AccessEntry", {
      DependsOn: Match.arrayWith([Match.stringLikeRegexp("^C[0-9A-F]{8}$")]),
    });
    expect(() => templateOf((stack) => ({ cluster: made(stack) }))).toThrow(
      /Test\/Prod: the ARN of the cluster Test\/C is known only while it is deployed.*clusterArn: "arn:aws:eks:<region>/,
    );
  });

  test("of another account is reached with a role there, which both functions may assume; no access entry is created here", () => {
    const other = "arn:aws:eks:eu-west-1:999999999999:cluster/prod";
    const role = "arn:aws:iam::999999999999:role/sluice";
    const template = templateOf(() => ({ clusterArn: other, role }));
    expect(countOf(template, "AWS::EKS::AccessEntry")).toBe(0);
    template.hasResourceProperties("Custom::SluiceDefinitions", { cluster: other, role });
    for (const name of ["Reconcile", "Definitions"]) {
      template.hasResourceProperties("AWS::IAM::Policy", {
        PolicyDocument: {
          Statement: Match.arrayWith([Match.objectLike({ Action: "sts:AssumeRole", Resource: role })]),
        },
        Roles: [{ Ref: Match.stringLikeRegexp(`^Sluice${name}Role`) }],
      });
    }
    expect(() => templateOf(() => ({ clusterArn: other }))).toThrow("give the property role");
  });

  test("of another region needs its access entry there: none is created here", () => {
    const template = templateOf(() => ({ clusterArn: arn.replace("eu-west-1", "eu-north-1") }));
    expect(countOf(template, "AWS::EKS::AccessEntry")).toBe(0);
    expect(countOf(template, "Custom::SluiceDefinitions")).toBe(1);
  });

  test("with a private endpoint is reached from its VPC, and refused if its network has no VPC", () => {
    const made = (stack: Stack, vpc: Vpc) =>
      new eksV2.Cluster(stack, "C", {
        version: eksV2.KubernetesVersion.V1_33,
        clusterName: "prod",
        vpc,
        endpointAccess: eksV2.EndpointAccess.PRIVATE,
      });
    expect(() => templateOf((stack) => ({ cluster: made(stack, vpcOf(stack)), clusterArn: arn }))).toThrow(
      'Test/Prod: the endpoint of the cluster is private, and the network "default" is in no VPC: add the VPC to the property networks',
    );
    let vpc: Vpc;
    const template = templateOf(
      (stack) => ({ cluster: made(stack, vpc), clusterArn: arn, network: "private" }),
      (stack) => {
        vpc = vpcOf(stack);
        return { networks: { private: { vpc } } };
      },
    );
    template.hasResourceProperties("AWS::EKS::AccessEntry", {
      PrincipalArn: { "Fn::GetAtt": [Match.stringLikeRegexp("^SluiceReconcilePrivateRole"), "Arn"] },
      KubernetesGroups: ["sluice-reconcile"],
    });
    template.hasResourceProperties("Custom::SluiceDefinitions", {
      ServiceToken: { Ref: Match.stringLikeRegexp("^SluiceDefinitionsPrivateLive") },
    });
    template.hasResourceProperties("AWS::Lambda::Function", {
      Description: "Sluice: definitions",
      VpcConfig: { SubnetIds: Match.anyValue() },
    });
  });

  test("whose definitions are installed with the rights of a group gives that function no policy", () => {
    const template = templateOf(() => ({ clusterArn: arn, definitionsRights: "group", onDelete: "removeDefinitions" }));
    template.hasResourceProperties("AWS::EKS::AccessEntry", {
      KubernetesGroups: ["sluice-definitions"],
      AccessPolicies: [],
    });
    template.hasResourceProperties("Custom::SluiceDefinitions", { onDelete: "removeDefinitions" });
    expect(countOf(template, "AWS::EKS::AccessEntry")).toBe(2);
  });

  test("added to a Sluice is the same below the Sluice", () => {
    const stack = new Stack(uncheckedApp(), "Test", { env });
    const added = new Sluice(stack, "Sluice").addCluster("Prod", { clusterArn: arn, rights: "clusterAdmin" });
    expect([added.node.path, added.arn, added.notice]).toEqual(["Test/Sluice/Prod", arn, expect.any(String)]);
    expect(countOf(Template.fromStack(stack), "Custom::SluiceDefinitions")).toBe(1);
  });

  test("has no custom resource if an emulator deploys it", () => {
    const template = templateOf(() => ({ clusterArn: arn }), undefined, { "sluice:emulator": "true" });
    expect(countOf(template, "Custom::SluiceDefinitions")).toBe(0);
    expect(countOf(template, "AWS::EKS::AccessEntry")).toBe(1);
  });

  test("with the rights namespaces gives reconcile no policy, only the rights of its group", () => {
    const template = templateOf(() => ({ clusterArn: arn, rights: "namespaces" }));
    const props = { KubernetesGroups: ["sluice-reconcile"], AccessPolicies: [] };
    expect(Object.values(template.findResources("AWS::EKS::AccessEntry", { Properties: props }))).toHaveLength(1);
  });

  test("is refused with unknown rights, and without a name or ARN", () => {
    // @ts-expect-error -- as an app without a compiler writes it
    expect(() => templateOf(() => ({ clusterArn: arn, rights: "admin" }))).toThrow(
      'Test/Prod: the rights "admin" are not known: write rights: "clusterAdmin" or rights: "namespaces"',
    );
    expect(() => templateOf(() => ({}))).toThrow("Test/Prod names no cluster: write cluster or clusterArn");
  });
});

describe("clusters that Kustomizations may apply to", () => {
  const [near, far] = [
    "arn:aws:eks:eu-west-1:123456789012:cluster/near",
    "arn:aws:eks:eu-north-1:210987654321:cluster/far",
  ];
  const role = "arn:aws:iam::210987654321:role/a+b";
  const policies = (targets: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(templateOf(() => ({ clusterArn: arn, targets })).findResources("AWS::IAM::Policy"));

  test("are described, or reached with their role, only by the role of reconcile", () => {
    const given = policies({ apps: [near, `${far}+${role}`], web: [near] });
    const isOfReconcile = ([id]: readonly [string, unknown]): boolean => id.startsWith("SluiceReconcileRole");
    const own = JSON.stringify(given.filter(isOfReconcile));
    expect(own).toContain(JSON.stringify({ Action: "sts:AssumeRole", Effect: "Allow", Resource: role }));
    expect(own).toContain(near);
    expect(own).not.toContain(far);
    const others = JSON.stringify(given.filter((one) => !isOfReconcile(one)));
    expect(others).not.toContain(near);
    expect(others).not.toContain(role);
  });

  test.each([
    { targets: ["arn:aws:eks:eu-west-1:123456789012:cluster/*"], says: "its targets.apps[0] must be arn:aws:eks" },
    { targets: [`${near}+${role}`], says: "its targets.apps[0] must be arn:aws:eks" },
    { targets: [Token.asString({ Ref: "Cluster" })], says: "has a token in its targets" },
  ])("are refused at synth: $says", ({ targets, says }) => {
    expect(() => policies({ apps: targets })).toThrow(says);
  });
});

describe("KMS keys that decrypt", () => {
  const key = "arn:aws:kms:eu-west-1:123456789012:key/1";
  const alias = "arn:aws:kms:eu-west-1:123456789012:alias/sops";
  const role = "arn:aws:iam::210987654321:role/sops";

  /** What the role of reconcile may do with keys and roles of others. */
  function rightsOf(template: Template): readonly unknown[] {
    const policies = template.findResources("AWS::IAM::Policy");
    const [, policy] = Object.entries(policies).find(([id]) => id.startsWith("SluiceReconcileRole")) ?? [];
    const Policy = z.object({
      Properties: z.object({
        PolicyDocument: z.object({ Statement: z.array(z.looseObject({ Action: z.unknown() })) }),
      }),
    });
    return Policy.parse(policy).Properties.PolicyDocument.Statement.filter(({ Action }) =>
      ["kms:Decrypt", "sts:AssumeRole"].includes(String(Action)),
    );
  }

  test("are not allowed unless they are listed", () => {
    expect(rightsOf(templateOf(() => ({ clusterArn: arn })))).toEqual([]);
  });

  test("are used only by the role of reconcile, by their ARN, their alias or a role that uses them", () => {
    const decryptionKeys = { apps: [key, alias], web: [key, `${key}2+${role}`] };
    const template = templateOf(() => ({ clusterArn: arn, decryptionKeys }));
    expect(rightsOf(template)).toEqual([
      { Effect: "Allow", Action: "kms:Decrypt", Resource: key },
      {
        Effect: "Allow",
        Action: "kms:Decrypt",
        Resource: "arn:aws:kms:eu-west-1:123456789012:key/*",
        Condition: { StringEquals: { "kms:RequestAlias": "alias/sops" } },
      },
      { Effect: "Allow", Action: "sts:AssumeRole", Resource: role },
    ]);
    const others = Object.entries(template.findResources("AWS::IAM::Policy")).filter(
      ([id]) => !id.startsWith("SluiceReconcileRole"),
    );
    expect(JSON.stringify(others)).not.toContain(key);
  });

  test.each([
    { keys: ["arn:aws:kms:eu-west-1:123456789012:key/*"], says: "its decryptionKeys.apps[0] must be arn:aws:kms" },
    { keys: ["alias/sops"], says: "its decryptionKeys.apps[0] must be arn:aws:kms" },
    { keys: [Token.asString({ Ref: "Key" })], says: "has a token in its decryptionKeys" },
  ])("are refused at synth: $says", ({ keys, says }) => {
    expect(() => templateOf(() => ({ clusterArn: arn, decryptionKeys: { apps: keys } }))).toThrow(says);
  });
});
