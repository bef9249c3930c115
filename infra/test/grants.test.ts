import { Stack } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { metricUnits } from "../../lib/core/ports/metrics.ts";
import { Sluice } from "../lib/sluice.ts";
import { shapes } from "./shapes.ts";
import { env, resourcesOf, templateOf, uncheckedApp } from "./synthesise.ts";

const Policy = z.object({
  PolicyDocument: z.object({
    Statement: z.array(
      z.looseObject({ Action: z.union([z.string(), z.array(z.string())]), Condition: z.unknown().optional() }),
    ),
  }),
});

function statementsOf(stack: Stack, role: RegExp) {
  const policies = Object.entries(resourcesOf(templateOf(stack), "AWS::IAM::Policy")).filter(([id]) => role.test(id));
  return policies.flatMap(([, { Properties }]) => Policy.parse(Properties).PolicyDocument.Statement);
}

describe("a Sluice grants the right", () => {
  const made = () => {
    const stack = new Stack(uncheckedApp(), "Test", { env });
    const sluice = new Sluice(stack, "Sluice", { encryptionKey: new Key(stack, "Key") });
    return {
      stack,
      sluice,
      role: new Role(stack, "Pipeline", { assumedBy: new ServicePrincipal("codebuild.amazonaws.com") }),
    };
  };

  test("to announce changes: only custom events, on the bus that it listens to", () => {
    const { stack, sluice, role } = made();
    expect(sluice.grantAnnounceChanges(role).success).toBe(true);
    expect(statementsOf(stack, /^Pipeline/)).toMatchObject([
      {
        Action: "events:PutEvents",
        Condition: { StringEquals: { "events:source": "sluice", "events:detail-type": "Source Changed" } },
      },
    ]);
  });

  test("to read its state: the table and its key, and no write", () => {
    const { stack, sluice, role } = made();
    sluice.grantReadState(role);
    const actions = statementsOf(stack, /^Pipeline/).flatMap(({ Action }) => Action);
    expect(actions).toEqual(expect.arrayContaining(["dynamodb:Query", "kms:Decrypt"]));
    expect(actions.filter((action) => /Put|Update|Delete|Write/.test(action))).toEqual([]);
  });
});

test("a Sluice may read CloudWatch in the regions that its clusters list, and nowhere without a list", () => {
  const grantsOf = (cloudWatchRegions?: Readonly<Record<string, readonly string[]>>) => {
    const stack = new Stack(uncheckedApp(), "Test", { env });
    const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
    new Sluice(stack, "Sluice").serveCluster({ arn, ...(cloudWatchRegions && { cloudWatchRegions }) });
    return statementsOf(stack, /./).filter(({ Action }) => [Action].flat().includes("cloudwatch:GetMetricData"));
  };
  expect(grantsOf({ apps: ["eu-west-1", "us-east-1"], web: ["eu-west-1"] })).toEqual([
    {
      ...{ Effect: "Allow", Action: "cloudwatch:GetMetricData", Resource: "*" },
      Condition: { StringEquals: { "aws:RequestedRegion": ["eu-west-1", "us-east-1"] } },
    },
  ]);
  expect(grantsOf()).toEqual([]);
});

test("a Sluice has each metric that its functions write, with the dimension of the installation", () => {
  const stack = new Stack(uncheckedApp(), "Test", { env });
  const sluice = new Sluice(stack, "Sluice");
  const names = [
    sluice.metricPushToApplied(),
    sluice.metricReconcilesFailed(),
    sluice.metricObjectsNotReady(),
    sluice.metricEventsMissed(),
    sluice.metricReconcilesParked(),
    sluice.metric("ObjectsApplied", { statistic: "Maximum" }),
  ].map(({ metricName, namespace, dimensions, statistic }) => {
    expect(namespace).toBe("Sluice");
    expect(stack.resolve(dimensions)).toEqual({ installation: stack.resolve(sluice.table.tableName) });
    return [metricName, statistic];
  });
  for (const [name] of names) expect(Object.keys(metricUnits)).toContain(name);
  expect(names[0]).toEqual(["PushToApplied", "p95"]);
  expect(names[1]).toEqual(["ReconcilesFailed", "Sum"]);
  expect(names.at(-1)).toEqual(["ObjectsApplied", "Maximum"]);
});

test("with a custom key a function may create data keys only if it sends messages or writes artifacts, and none may encrypt", () => {
  const { stack } = shapes.privateCluster();
  const template = templateOf(stack);
  const byRole = Object.entries(resourcesOf(template, "AWS::IAM::Policy")).map(([id, { Properties }]) => {
    const actions = Policy.parse(Properties).PolicyDocument.Statement.flatMap(({ Action }) => Action);
    return [id, actions.filter((action) => action.startsWith("kms:")), actions] as const;
  });
  expect(byRole.length).toBeGreaterThan(6);
  for (const [id, kms, actions] of byRole) {
    if (kms.length === 0) continue;
    // What notify sends to are queues of others, which this key does not encrypt.
    const sends = actions.includes("sqs:SendMessage") && !id.startsWith("SluiceNotify");
    const seals = sends || actions.includes("s3:PutObject");
    expect(new Set(kms)).toEqual(new Set(seals ? ["kms:Decrypt", "kms:GenerateDataKey"] : ["kms:Decrypt"]));
  }
});
