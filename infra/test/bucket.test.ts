import { App, Stack } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { describe, expect, test } from "vitest";
import { isAllowedBucket } from "../../functions/settings/allowed-buckets.ts";
import { readInstallation } from "../../functions/settings/installation.ts";
import { SluiceBucket, type SluiceBucketProps } from "../lib/bucket.ts";
import { InstallationDocument } from "../lib/installation.ts";
import { Sluice } from "../lib/sluice.ts";
import { checkedApp, env, prod, resourcesOf, templateOf } from "./synthesise.ts";

const bucketArn = "arn:aws:s3:::team-manifests";

function withBucket(propsOf: (stack: Stack) => Partial<SluiceBucketProps>) {
  const stack = new Stack(new App({ analyticsReporting: false }), "Test", { env });
  const sluice = new Sluice(stack, "Sluice", { webhooks: true });
  sluice.addCluster("Prod", { clusterArn: prod, rights: "namespaces" });
  const given = { sluice, clusters: [prod], namespaces: ["apps"], ...propsOf(stack) };
  const bucket = new SluiceBucket(stack, "Manifests", given);
  return { stack, sluice, bucket };
}

/** The roles whose policies name an action, and their statements that do. */
function mayDo(stack: Stack, action: string) {
  return Object.entries(resourcesOf(templateOf(stack), "AWS::IAM::Policy")).filter(([, policy]) =>
    JSON.stringify(policy).includes(`"${action}"`),
  );
}

describe("an S3 bucket", () => {
  test("is read only by the role of reconcile, for the listed namespaces", () => {
    const { stack, sluice } = withBucket(() => ({ bucketArn }));
    const reading = mayDo(stack, "s3:GetObject").filter(([, policy]) => JSON.stringify(policy).includes(bucketArn));
    expect(reading.map(([id]) => id.replace(/DefaultPolicy.*/, ""))).toEqual([
      expect.stringMatching(/^SluiceReconcileRole/),
    ]);
    const text = JSON.stringify(reading);
    expect(text).toContain(JSON.stringify({ Action: "s3:ListBucket", Effect: "Allow", Resource: bucketArn }));
    expect(text).toContain(JSON.stringify({ Action: "s3:GetObject", Effect: "Allow", Resource: `${bucketArn}/*` }));
    const document = sluice.node.findChild("Installation");
    const read = document instanceof InstallationDocument ? readInstallation(document.text()) : { faults: ["none"] };
    if ("faults" in read) throw new Error(read.faults.join());
    const allowed = read.clusters[0]?.buckets ?? {};
    expect(isAllowedBucket(allowed, "apps", "team-manifests")).toBe(true);
    expect(isAllowedBucket(allowed, "other", "team-manifests")).toBe(false);
    expect(isAllowedBucket(allowed, "apps", "team-manifests-2")).toBe(false);
  });

  test("sends its own changes, and those of no other bucket, to the queue of hints", () => {
    const { stack } = withBucket(() => ({ bucketArn }));
    const rules = Object.values(resourcesOf(templateOf(stack), "AWS::Events::Rule")).filter((rule) =>
      JSON.stringify(rule).includes("aws.s3"),
    );
    expect(rules).toMatchObject([
      {
        Properties: {
          EventPattern: {
            source: ["aws.s3"],
            account: ["123456789012"],
            region: ["eu-west-1"],
            "detail-type": ["Object Created", "Object Deleted"],
            detail: { bucket: { name: ["team-manifests"] } },
          },
          Targets: [{ Arn: { "Fn::GetAtt": [expect.stringContaining("Hints"), "Arn"] }, DeadLetterConfig: {} }],
        },
      },
    ]);
  });

  test("of this app gets notifications, and its key can decrypt its objects", () => {
    const { stack } = withBucket((of) => {
      const encryptionKey = new Key(of, "Key");
      return { bucket: new Bucket(of, "Own", { bucketName: "own-manifests", encryptionKey }) };
    });
    expect(Object.keys(resourcesOf(templateOf(stack), "Custom::S3BucketNotifications"))).toHaveLength(1);
    expect(mayDo(stack, "kms:Decrypt").map(([id]) => id)).toContainEqual(expect.stringMatching(/^SluiceReconcileRole/));
  });

  test("is made private, with notifications and versions, and is kept after the stack", () => {
    const { stack } = withBucket(() => ({ newBucketName: "new-manifests" }));
    const made = Object.values(resourcesOf(templateOf(stack), "AWS::S3::Bucket")).find((one) =>
      JSON.stringify(one).includes('"new-manifests"'),
    );
    expect(made).toMatchObject({
      DeletionPolicy: "Retain",
      Properties: {
        NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
        VersioningConfiguration: { Status: "Enabled" },
        PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
      },
    });
  });

  test.each<[string, Partial<SluiceBucketProps>]>([
    ["that exists", { bucketArn }],
    ["that is made here", { newBucketName: "new-manifests" }],
  ])("%s passes the checks of AWS Solutions", (_what, props) => {
    const stack = new Stack(checkedApp(), "Test", { env });
    const sluice = new Sluice(stack, "Sluice");
    sluice.addCluster("Prod", { clusterArn: prod, rights: "namespaces" });
    new SluiceBucket(stack, "Manifests", { sluice, clusters: [prod], namespaces: ["apps"], ...props });
    expect(JSON.stringify(templateOf(stack))).toContain('"s3:GetObject"');
  });

  test.each<{ props: (of: Stack) => Partial<SluiceBucketProps>; says: string }>([
    { props: () => ({}), says: "Test/Manifests names 0 buckets: give exactly one" },
    { props: () => ({ bucketArn, newBucketName: "x-y-z" }), says: "Test/Manifests names 2 buckets" },
    { props: () => ({ bucketArn: "manifests" }), says: '"manifests" is not the ARN of an S3 bucket' },
    { props: (of) => ({ bucket: new Bucket(of, "Own") }), says: "is not known before the deployment" },
    { props: () => ({ bucketArn, namespaces: [] }), says: "namespaces is empty" },
    { props: () => ({ bucketArn, clusters: [`${prod}-2`] }), says: "is not one of this Sluice: add it first" },
  ])("is refused: $says", ({ props, says }) => {
    expect(() => withBucket(props)).toThrow(says);
  });
});
