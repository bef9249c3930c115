import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { SecurityGroup, Subnet, Vpc } from "aws-cdk-lib/aws-ec2";
import { Key } from "aws-cdk-lib/aws-kms";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Topic } from "aws-cdk-lib/aws-sns";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { SluiceConfiguration } from "../lib/configuration.ts";
import { SluiceObservability } from "../lib/observability.ts";
import { SluiceRepository } from "../lib/repository.ts";
import { Sluice } from "../lib/sluice.ts";
import { env, prod, resourcesOf, templateOf, uncheckedApp } from "./synthesise.ts";

const edge = prod.replace("/prod", "/edge");
const far = "arn:aws:eks:eu-north-1:210987654321:cluster/far";
const roleOf = (name: string) => `arn:aws:iam::210987654321:role/sluice-${name}`;
const roles = {
  reconcile: roleOf("reconcile"),
  receiver: roleOf("receiver"),
  notify: roleOf("notify"),
  definitions: roleOf("definitions"),
  configuration: roleOf("configuration"),
};
const topicArn = `arn:aws:sns:${env.region}:${env.account}:ours`;

/** One installation with every option that no reviewed template has, each set to another value than its default. */
function everyOption() {
  const stack = new Stack(uncheckedApp(), "Sluice", { env });
  const attributes = {
    vpcId: "vpc-0123456789abcdef0",
    availabilityZones: ["eu-west-1a"],
    privateSubnetIds: ["subnet-0123456789abcdef0"],
  };
  const vpc = Vpc.fromVpcAttributes(stack, "Vpc", attributes);
  const sluice = new Sluice(stack, "Sluice", {
    networks: {
      default: {
        vpc,
        subnets: { subnets: [Subnet.fromSubnetId(stack, "Subnet", "subnet-0123456789abcdef1")] },
        securityGroups: [SecurityGroup.fromSecurityGroupId(stack, "Group", "sg-0123456789abcdef0")],
      },
      other: { vpc },
    },
    logRetention: RetentionDays.ONE_WEEK,
    logEncryptionKey: new Key(stack, "LogKey"),
    logLevel: "debug",
    removalPolicy: RemovalPolicy.DESTROY,
    maxConcurrency: 7,
    reconcile: { batchSize: 4, memoryMiB: 3_000, tmpMiB: 1_100 },
    admission: true,
    webhooks: true,
    notifications: true,
    settings: { "watch-configs-label-selector": "team=shop" },
  });
  const rights = "clusterAdmin";
  const cluster = sluice.addCluster("Prod", { clusterArn: prod, rights });
  sluice.addCluster("Edge", { clusterArn: edge, rights, network: "other" });
  const there = sluice.addCluster("Far", { clusterArn: far, rights, roles });
  new SluiceRepository(stack, "Apps", {
    sluice,
    newRepositoryName: "apps",
    clusters: [prod, edge],
    namespaces: ["apps"],
    untaggedExpiry: Duration.days(3),
    maxImages: 40,
    scanOnPush: false,
    immutableTags: true,
  });
  const url = "oci://registry.example.com/shop";
  const apps = {
    path: "apps",
    interval: Duration.minutes(1),
    retryInterval: Duration.minutes(2),
    timeout: Duration.minutes(3),
    wait: false,
    force: true,
  };
  const configuration = { namespace: "shop", kustomizations: { apps } };
  const key = Key.fromKeyArn(
    stack,
    "Key",
    `arn:aws:kms:${env.region}:${env.account}:key/11111111-2222-3333-4444-555555555555`,
  );
  const login = new Secret(stack, "Login", { encryptionKey: key });
  new SluiceConfiguration(stack, "Shop", {
    ...configuration,
    cluster: there,
    name: "shop",
    source: { oci: { url, login } },
    loginRefresh: Duration.hours(6),
    onDelete: "delete",
  });
  for (const name of ["one", "two"]) {
    new SluiceConfiguration(stack, name, { ...configuration, cluster, name, source: { oci: { url } } });
  }
  const watch = new SluiceObservability(stack, "Watch", {
    sluice,
    topic: Topic.fromTopicArn(stack, "Ours", topicArn),
    emails: ["first@example.test", "second@example.test"],
  });
  return { template: templateOf(stack), watch };
}

describe("each option reaches its resource:", () => {
  const { template, watch } = everyOption();
  const all = (type: string) => Object.entries(resourcesOf(template, type));
  const properties = (type: string, id: RegExp) =>
    all(type).flatMap(([name, resource]) => (id.test(name) ? [resource.Properties] : []));
  const rights = (id: RegExp) => JSON.stringify(properties("AWS::IAM::Policy", id));

  test("networks.default puts functions without a named network into its VPC, subnets and security groups", () => {
    const [inside] = properties("AWS::Lambda::Function", /^SluiceReconcileFunction/);
    expect(inside?.["VpcConfig"]).toEqual({
      SubnetIds: ["subnet-0123456789abcdef1"],
      SecurityGroupIds: ["sg-0123456789abcdef0"],
    });
    const [other] = properties("AWS::Lambda::Function", /^SluiceReconcileOtherFunction/);
    expect(other?.["VpcConfig"]).toMatchObject({ SubnetIds: ["subnet-0123456789abcdef0"] });
  });

  test("logRetention and logLevel apply to every function", () => {
    const levels = properties("AWS::Lambda::Function", /^Sluice/).map((one) => JSON.stringify(one["Environment"]));
    expect(levels.length).toBeGreaterThan(5);
    expect(levels.filter((text) => !text.includes('"SLUICE_LOG_LEVEL":"debug"'))).toEqual([]);
    expect(new Set(properties("AWS::Logs::LogGroup", /./).map((one) => one["RetentionInDays"]))).toEqual(new Set([7]));
  });

  test("logEncryptionKey encrypts every log group, and a key of the app lets CloudWatch Logs use it", () => {
    const [made] = all("AWS::KMS::Key");
    const used = properties("AWS::Logs::LogGroup", /./).map((one) => one["KmsKeyId"]);
    expect(new Set(used.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ "Fn::GetAtt": [made?.[0], "Arn"] })]),
    );
    expect(JSON.stringify(made)).toContain("logs.eu-west-1.");
  });

  test("maxConcurrency applies to the wake-ups of each network, and to no other queue", () => {
    const most = properties("AWS::Lambda::EventSourceMapping", /./).map((one) => one["ScalingConfig"]);
    expect(most).toEqual([2, 7, 7, 5, 5].map((MaximumConcurrency) => ({ MaximumConcurrency })));
  });

  test("reconcile sets the size of the reconcile functions and their batches, and of no other function", () => {
    const sizes = properties("AWS::Lambda::Function", /^Sluice/).map((one) =>
      [one["MemorySize"], one["EphemeralStorage"]].map((value) => JSON.stringify(value)).join(" "),
    );
    expect(sizes.filter((size) => size === '3000 {"Size":1100}')).toHaveLength(2);
    expect(sizes.filter((size) => size.includes("3000") || size.includes("1100"))).toHaveLength(2);
    expect(properties("AWS::Lambda::EventSourceMapping", /./).map((one) => one["BatchSize"])).toEqual([
      10, 4, 4, 10, 10,
    ]);
  });

  test("reconcile is refused at synth if it is too small for the limits of its runs", () => {
    const stack = new Stack(uncheckedApp(), "Small", { env });
    expect(() => new Sluice(stack, "Sluice", { reconcile: { memoryMiB: 1_024 } })).toThrow(
      /Small\/Sluice: reconcile.memoryMiB is 1024, and the limits of 2 runs at the same time need \d+ MiB of memory/,
    );
  });

  test("removalPolicy removes table and bucket, and never the installation key", () => {
    const kept = ["AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret"].flatMap((type) =>
      all(type).map(([id, { DeletionPolicy }]) => [id.replace(/[0-9A-F]{8}$/, ""), DeletionPolicy]),
    );
    expect(Object.fromEntries(kept)).toEqual({
      SluiceTable: "Delete",
      SluiceArtifacts: "Delete",
      SluiceInstallationKey: "Retain",
      SluiceAdmissionSecret: "Delete",
      Login: "Delete",
    });
    expect(properties("AWS::DynamoDB::Table", /./)[0]?.["DeletionProtectionEnabled"]).toBe(false);
  });

  test("removalPolicy empties the bucket before it is deleted: the emptying function may delete, but not write", () => {
    const [empties] = all("Custom::S3AutoDeleteObjects").map(([, one]) => one);
    expect(JSON.stringify(empties?.["DependsOn"])).toContain("SluiceStateArtifactsPolicy");
    const [policy] = properties("AWS::S3::BucketPolicy", /Artifacts/);
    const { Statement } = z
      .object({
        Statement: z.array(
          z.looseObject({ Action: z.unknown(), Effect: z.string(), Condition: z.unknown().optional() }),
        ),
      })
      .parse(policy?.["PolicyDocument"]);
    const deniedBy = (action: string) =>
      Statement.filter((one) => one.Effect === "Deny" && [one.Action].flat().includes(action)).map(({ Condition }) =>
        JSON.stringify(Condition),
      );
    const emptier = "CustomS3AutoDeleteObjectsCustomResourceProviderRole";
    for (const action of ["s3:DeleteObject", "s3:DeleteObjectVersion"]) {
      expect(deniedBy(action)).toHaveLength(1);
      expect(deniedBy(action)[0]).toContain(emptier);
    }
    expect(deniedBy("s3:PutObject")).toHaveLength(1);
    expect(deniedBy("s3:PutObject")[0]).not.toContain(emptier);
  });

  test("watch-configs-label-selector is passed with the admission webhook to each cluster", () => {
    const told = properties("Custom::SluiceDefinitions", /./).map((one) => one["admission"]);
    expect(told).toHaveLength(3);
    for (const one of told) expect(one).toMatchObject({ selector: "team=shop" });
  });

  test("a repository has the expiry, the number of images, the scan and the tags of its properties", () => {
    const [repository] = properties("AWS::ECR::Repository", /./);
    expect(repository).toMatchObject({
      ImageScanningConfiguration: { ScanOnPush: false },
      ImageTagMutability: "IMMUTABLE",
    });
    const { LifecyclePolicyText } = z
      .object({ LifecyclePolicyText: z.string() })
      .parse(repository?.["LifecyclePolicy"]);
    const policy: unknown = JSON.parse(LifecyclePolicyText);
    expect(policy).toMatchObject({
      rules: [
        { selection: { tagStatus: "untagged", countNumber: 3, countUnit: "days" } },
        { selection: { tagStatus: "any", countNumber: 40, countType: "imageCountMoreThan" } },
      ],
    });
  });

  test("a repository is pulled by the reconcile function of each network that its clusters are in", () => {
    expect(rights(/^SluiceReconcileRole/)).toContain("ecr:BatchGetImage");
    expect(rights(/^SluiceReconcileOtherRole/)).toContain("ecr:BatchGetImage");
    expect(rights(/^Sluice(Receiver|Ingest|Sweep|Admission|Definitions|Configuration)/)).not.toContain("ecr:");
  });

  test("each duration of a Kustomization is passed as its own field, next to wait, force and onDelete", () => {
    const [shop] = properties("Custom::SluiceConfiguration", /^Shop/);
    const text = JSON.stringify(shop?.["configuration"]).replaceAll("\\", "");
    const times = '"interval":"60s","retryInterval":"120s","timeout":"180s"';
    expect(text).toContain(`"apps":{"path":"apps",${times},"wait":false,"force":true}`);
    expect(text).toContain('"onDelete":"delete"');
  });

  test("a login encrypted with a custom key can be decrypted, and is copied as often as loginRefresh says", () => {
    expect(rights(/^SluiceConfigurationRole/)).toContain("key/11111111-2222-3333-4444-555555555555");
    const [rule] = properties("AWS::Events::Rule", /^ShopLoginRefresh/);
    expect(rule?.["ScheduleExpression"]).toBe("rate(6 hours)");
  });

  test("a cluster with roles is reached with them, also by the schedule that copies logins, and has no access entry", () => {
    const role = roles.configuration;
    const [rule] = properties("AWS::Events::Rule", /^ShopLoginRefresh/);
    const [shop] = properties("Custom::SluiceConfiguration", /^Shop/);
    expect(shop).toMatchObject({ cluster: far, role });
    expect(JSON.stringify(rule?.["Targets"]).replaceAll("\\", "")).toContain(`"cluster":"${far}","role":"${role}"`);
    for (const [name, own] of Object.entries(roles)) {
      const given = rights(new RegExp(`^Sluice${name.charAt(0).toUpperCase()}${name.slice(1)}(?:Role|Reach)`));
      expect(Object.values(roles).filter((one) => given.includes(one))).toEqual([own]);
    }
    expect(all("AWS::EKS::AccessEntry").filter(([id]) => id.includes("Far"))).toEqual([]);
  });

  test("several configurations of a cluster share one access entry", () => {
    const entries = properties("AWS::EKS::AccessEntry", /Configuration/);
    expect(entries).toMatchObject([{ ClusterName: "prod", KubernetesGroups: ["sluice-configuration"] }]);
  });

  test("every email address gets the alarms, and every alarm notifies the given topic", () => {
    expect(properties("AWS::SNS::Subscription", /./)).toMatchObject(
      ["first@example.test", "second@example.test"].map((Endpoint) => ({ Endpoint, TopicArn: topicArn })),
    );
    const alarms = properties("AWS::CloudWatch::Alarm", /./);
    expect(alarms).toHaveLength(Object.keys(watch.alarms).length);
    for (const alarm of alarms) expect(alarm).toMatchObject({ AlarmActions: [topicArn], OKActions: [topicArn] });
  });

  test("webhooks, notifications and admission have alarms of their own", () => {
    expect(Object.keys(watch.alarms)).toEqual(
      expect.arrayContaining([
        "HintsDropped",
        "ReceiverThrottles",
        "ReceiverAnswers5xx",
        "ReceiverAnswers5xxOther",
        "AdmissionErrors",
        "NotificationDeadLetters",
        "NotificationsLate",
        "NotificationsLateOther",
        "ReconcileErrorsOther",
      ]),
    );
  });
});
