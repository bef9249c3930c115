import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Duration, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { SluiceConfiguration, type SluiceConfigurationProps } from "../lib/configuration.ts";
import { Sluice } from "../lib/sluice.ts";
import { uncheckedApp } from "./synthesise.ts";

const env = { account: "123456789012", region: "eu-west-1" };
const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const root = join(import.meta.dirname, "../..");

function templateOf(props: (stack: Stack) => Partial<SluiceConfigurationProps> = () => ({})): Template {
  const stack = new Stack(uncheckedApp(), "Test", { env });
  const cluster = new Sluice(stack, "Sluice").addCluster("Prod", { clusterArn: arn, rights: "clusterAdmin" });
  new SluiceConfiguration(stack, "Shop", {
    cluster,
    name: "shop",
    namespace: "shop",
    source: { oci: { url: "oci://registry.example.com/shop" } },
    kustomizations: { apps: { path: "apps" } },
    ...props(stack),
  });
  return Template.fromStack(stack);
}

const Resource = z.looseObject({ Properties: z.looseObject({ configuration: z.unknown() }) });
/** The configuration that the function is told. */
function told(template: Template): unknown {
  const [resource] = Object.values(template.findResources("Custom::SluiceConfiguration"));
  const { configuration } = Resource.parse(resource).Properties;
  return typeof configuration === "string" ? JSON.parse(configuration) : configuration;
}

describe("a SluiceConfiguration", () => {
  test("shares the access entry of its function with another one of the same cluster", () => {
    const template = templateOf((stack) => {
      const cluster = new Sluice(stack, "Other").addCluster("Prod", { clusterArn: arn, rights: "clusterAdmin" });
      const source = { oci: { url: "oci://registry.example.com/docs" } };
      const props = { namespace: "docs", source, kustomizations: { docs: {} } };
      new SluiceConfiguration(stack, "Docs", { ...props, cluster, name: "docs" });
      return { cluster };
    });
    const entries = Object.keys(template.findResources("AWS::EKS::AccessEntry"));
    expect(entries.filter((id) => id.includes("ConfigurationAccess"))).toHaveLength(1);
  });

  test("passes its properties to the function, without unset ones", () => {
    const template = templateOf(() => ({
      source: { oci: { url: "oci://registry.example.com/shop", ref: { tag: "live" }, interval: Duration.minutes(5) } },
      kustomizations: {
        infrastructure: { path: "infrastructure" },
        apps: { dependsOn: ["infrastructure"], timeout: Duration.minutes(3), prune: false },
      },
      waitForReady: Duration.minutes(10),
    }));
    expect(told(template)).toEqual({
      name: "shop",
      namespace: "shop",
      source: {
        kind: "OCIRepository",
        spec: { url: "oci://registry.example.com/shop", interval: "300s", ref: { tag: "live" } },
      },
      secrets: [],
      kustomizations: {
        infrastructure: { path: "infrastructure" },
        apps: { dependsOn: ["infrastructure"], timeout: "180s", prune: false },
      },
      onDelete: "orphan",
      waitSeconds: 600,
    });
    expect(
      Object.keys(
        template.findResources("AWS::Events::Rule", { Properties: { Description: Match.stringLikeRegexp("login") } }),
      ),
    ).toEqual([]);
  });

  test("is created after the definitions, with an access entry that has a group and no policy", () => {
    const template = templateOf();
    template.hasResourceProperties("AWS::EKS::AccessEntry", {
      KubernetesGroups: ["sluice-configuration"],
      AccessPolicies: [],
      PrincipalArn: { "Fn::GetAtt": [Match.stringLikeRegexp("^SluiceConfigurationRole"), "Arn"] },
    });
    template.hasResource("Custom::SluiceConfiguration", {
      Properties: { cluster: arn, installation: { "Fn::Join": Match.anyValue() }, ServiceTimeout: "3300" },
      DependsOn: Match.arrayWith([
        Match.stringLikeRegexp("^SluiceProdConfigurationAccess"),
        Match.stringLikeRegexp("^SluiceProdDefinitions"),
      ]),
    });
    const [resource] = Object.values(template.findResources("Custom::SluiceConfiguration"));
    // So that the Sluice is still there when the configuration is removed.
    expect(String(resource?.["DependsOn"])).toMatch(/SluiceReconcile.*SluiceTable|SluiceTable.*SluiceReconcile/);
  });

  test("shows its state in the outputs of the stack", () => {
    const outputs = templateOf().findOutputs("*");
    const all = Object.entries(outputs).filter(([id]) => !id.includes("Redrive"));
    const values = all.map(([, output]) => JSON.stringify(output["Value"]));
    expect(values).toEqual([expect.stringContaining('"Ready"]'), expect.stringContaining('"State"]')]);
  });

  test("with a login may read only that secret, and copies it every hour", () => {
    const template = templateOf((stack) => ({
      source: {
        oci: { url: "oci://registry.example.com/shop", login: new Secret(stack, "Login") },
      },
    }));
    template.hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: "secretsmanager:GetSecretValue",
            Resource: { Ref: Match.stringLikeRegexp("^Login") },
          }),
        ]),
      },
      Roles: [{ Ref: Match.stringLikeRegexp("^SluiceConfigurationRole") }],
    });
    template.hasResourceProperties("AWS::Events::Rule", {
      Description: "Sluice: copies the login of shop/shop again",
      ScheduleExpression: "rate(1 hour)",
      Targets: [Match.objectLike({ Input: Match.anyValue() })],
    });
    expect(JSON.stringify(told(template))).toContain("shop-login");
  });

  test.each([
    ["a circle", { kustomizations: { a: { dependsOn: ["b"] }, b: { dependsOn: ["a"] } } }, "of a → b → a is a circle"],
    ["no Kustomization", { kustomizations: {} }, "kustomizations must have 1 to 50 entries"],
    ["a long wait", { waitForReady: Duration.minutes(20) }, "waitSeconds must be 780 at most"],
    [
      "another kind of URL",
      { source: { oci: { url: "https://example.com" } } },
      "source.oci.url must be oci://<host>/<repository>, without tag or digest",
    ],
    [
      "a tag in the URL",
      { source: { oci: { url: "oci://registry.example.com/shop:v1" } } },
      "source.oci.url must be oci://<host>/<repository>, without tag or digest",
    ],
    [
      "a reference by two of its kinds",
      { source: { oci: { url: "oci://registry.example.com/shop", ref: { tag: "v1", semver: "1.x" } } } },
      "source.oci.ref has tag and semver: write one of them",
    ],
    [
      "a short digest",
      { source: { oci: { url: "oci://registry.example.com/shop", ref: { digest: "sha256:abc" } } } },
      "source.oci.ref.digest must be sha256: and 64 hexadecimal digits",
    ],
    [
      "a misspelt reference",
      // As an app without a compiler writes it.
      { source: { oci: { url: "oci://registry.example.com/shop", ref: Object.fromEntries([["tagg", "v1"]]) } } },
      "source.oci.ref.tagg is not known: write one of tag, digest, semver",
    ],
    [
      "our rights for another registry",
      { source: { oci: { url: "oci://ghcr.io/team/shop", provider: "aws" as const } } },
      "source.oci.provider aws is for ECR, and ghcr.io is not an ECR registry",
    ],
    [
      "a path out of the artifact",
      { kustomizations: { a: { path: "../b" } } },
      "kustomizations.a.path must stay inside the artifact, without ..",
    ],
  ])("with %s is refused at synth", (_what, props, says) => {
    expect(() => templateOf(() => props)).toThrow(
      `Test/Shop is not usable: ${says === "of a → b → a is a circle" ? "kustomizations.dependsOn " : ""}${says}`,
    );
  });

  test("of examples/shop compiles", () => {
    const run = () =>
      execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", join(root, "examples")]);
    expect(String(run())).toBe("");
  });
});
