import { type App, Stack } from "aws-cdk-lib";
import { SecurityGroup, Vpc } from "aws-cdk-lib/aws-ec2";
import { ManagedPolicy } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { SluiceStack } from "../lib/app-stack.ts";
import { SluiceConfiguration } from "../lib/configuration.ts";
import { SluiceRepository } from "../lib/repository.ts";
import { Sluice } from "../lib/sluice.ts";
import { checkedApp, env, prod } from "./synthesise.ts";

export interface Shape {
  readonly app: App;
  readonly stack: Stack;
  readonly sluice: Sluice;
}

function ofContext(values: Readonly<Record<string, unknown>>): Shape {
  const app = checkedApp(values);
  const stack = new SluiceStack(app, "Sluice");
  return { app, stack, sluice: stack.sluice };
}

/** The app in three shapes, each created again. */
export const shapes = {
  smallest: () => ofContext({ clusters: "none" }),
  /** Everything that is optional: a cluster whose endpoint is private, a repository made here, a key, pushes from another account, webhooks, notifications, admission, keys of SOPS. */
  privateCluster(): Shape {
    const app = checkedApp();
    const stack = new Stack(app, "Sluice", { env });
    const vpc = Vpc.fromVpcAttributes(stack, "Vpc", {
      vpcId: "vpc-0123456789abcdef0",
      availabilityZones: ["eu-west-1a", "eu-west-1b"],
      privateSubnetIds: ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    });
    const sluice = new Sluice(stack, "Sluice", {
      networks: { "eu-private": { vpc } },
      encryptionKey: Key.fromKeyArn(
        stack,
        "Key",
        "arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555",
      ),
      permissionsBoundary: ManagedPolicy.fromManagedPolicyName(stack, "Boundary", "developers"),
      tags: { team: "platform" },
      pushesFrom: [{ account: "210987654321" }],
      webhooks: true,
      notifications: true,
      admission: true,
      breakGlassPrincipals: ["arn:aws:iam::123456789012:role/break-glass"],
    });
    const cluster = sluice.addCluster("Prod", {
      clusterArn: prod,
      rights: "clusterAdmin",
      network: "eu-private",
      clusterSecurityGroup: SecurityGroup.fromSecurityGroupId(stack, "Endpoint", "sg-0123456789abcdef0"),
      targets: {
        apps: [
          "arn:aws:eks:eu-west-1:123456789012:cluster/edge",
          "arn:aws:eks:eu-north-1:210987654321:cluster/edge+arn:aws:iam::210987654321:role/sluice-edge",
        ],
      },
      notificationTargets: {
        apps: [
          "arn:aws:sns:eu-west-1:123456789012:alerts",
          "arn:aws:events:eu-west-1:123456789012:event-bus/platform",
          "arn:aws:sqs:eu-west-1:210987654321:alerts",
        ],
      },
      decryptionKeys: {
        apps: [
          "arn:aws:kms:eu-west-1:123456789012:key/66666666-7777-8888-9999-000000000000",
          "arn:aws:kms:eu-west-1:123456789012:alias/sops",
          "arn:aws:kms:eu-north-1:210987654321:key/1+arn:aws:iam::210987654321:role/sops",
        ],
      },
    });
    new SluiceRepository(stack, "Apps", {
      sluice,
      newRepositoryName: "apps/manifests",
      clusters: [prod],
      namespaces: ["apps"],
    });
    new SluiceConfiguration(stack, "Shop", {
      cluster,
      name: "shop",
      namespace: "apps",
      source: { oci: { url: "oci://registry.example.com/shop" } },
      kustomizations: { apps: { path: "apps" } },
    });
    return { app, stack, sluice };
  },
  /** Half of them in another account. */
  manyClusters: () =>
    ofContext({
      clusters: Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0
          ? { arn: `arn:aws:eks:eu-west-1:123456789012:cluster/prod-${index}`, rights: "clusterAdmin" }
          : {
              arn: `arn:aws:eks:eu-west-1:210987654321:cluster/prod-${index}`,
              role: "arn:aws:iam::210987654321:role/sluice",
              rights: "clusterAdmin",
            },
      ),
      repositories:
        "arn:aws:ecr:eu-west-1:123456789012:repository/apps,arn:aws:ecr:eu-west-1:123456789012:repository/platform/base",
    }),
} satisfies Record<string, () => Shape>;
