import { readFileSync } from "node:fs";
import { Stack } from "aws-cdk-lib";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { expect, test } from "vitest";
import { z } from "zod";
import { SluiceStack } from "../lib/app-stack.ts";
import { sluiceOutputs } from "../lib/outputs.ts";
import { Sluice } from "../lib/sluice.ts";
import { checkedApp, env, prod, templateOf } from "./synthesise.ts";

const Outputs = z.record(z.string(), z.object({ Value: z.unknown(), Description: z.string() }));

function outputsOf(stack: Stack): z.infer<typeof Outputs> {
  return Outputs.parse(templateOf(stack)["Outputs"]);
}

test("the stack outputs its table, bucket, queues, topics, webhook URL and the roles for clusters, as the guide lists them", () => {
  const context = { clusters: [{ arn: prod, rights: "namespaces" }], webhooks: true, notifications: true };
  const outputs = outputsOf(new SluiceStack(checkedApp(context), "Sluice"));
  const guide = readFileSync(new URL("../../docs/deploy.md", import.meta.url), "utf8");
  const section = guide.split("\n## ").find((text) => text.startsWith("What the stack puts out")) ?? "";
  const listed = [...section.matchAll(/`([A-Z]\w+)`/g)].map(([, name = ""]) => name);
  // There is no SluiceConfiguration in this one.
  expect(new Set(Object.keys(outputs))).toEqual(new Set(listed.filter((name) => name !== "ConfigurationRole")));
  expect(JSON.stringify(outputs["WakeUpDeadLetterQueue"])).toContain('{"Ref":"SluiceWakeUpDeadLetters');
  expect(JSON.stringify(outputs["SubscribePage"])).toContain("aws sns subscribe --region eu-west-1 --topic-arn ");
});

test("the names of a further network's outputs end with its name", () => {
  const stack = new Stack(checkedApp(), "Sluice", { env });
  const vpc = Vpc.fromVpcAttributes(stack, "Vpc", {
    vpcId: "vpc-0123456789abcdef0",
    availabilityZones: ["eu-west-1a"],
    privateSubnetIds: ["subnet-0123456789abcdef0"],
  });
  const sluice = new Sluice(stack, "Sluice", {
    networks: { "eu-private": { vpc } },
    webhooks: true,
    notifications: true,
  });
  sluice.addCluster("Prod", { clusterArn: prod, rights: "namespaces", network: "eu-private" });
  sluiceOutputs(stack, sluice);
  const names = Object.keys(outputsOf(stack)).filter((name) => name.endsWith("EuPrivate"));
  expect(names.toSorted()).toEqual([
    "DefinitionsRoleEuPrivate",
    "NotificationQueueEuPrivate",
    "NotifyRoleEuPrivate",
    "ReceiverRoleEuPrivate",
    "ReconcileRoleEuPrivate",
    "WakeUpQueueEuPrivate",
    "WebhookUrlEuPrivate",
  ]);
});
