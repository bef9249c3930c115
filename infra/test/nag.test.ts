import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { expect, test } from "vitest";
import { SluiceStack } from "../lib/app-stack.ts";
import { Sluice } from "../lib/sluice.ts";
import { shapes } from "./shapes.ts";
import { checkedApp, env, prod } from "./synthesise.ts";

test.each(Object.entries(shapes))("cdk-nag and CloudFormation's own checks find nothing in the shape %s", (_, make) => {
  expect(() => make().app.synth()).not.toThrow();
});

test("cdk-nag is active: it finds a queue without TLS", () => {
  const { app, stack } = shapes.smallest();
  new Queue(stack, "Open");
  expect(() => app.synth()).toThrow("AwsSolutions-SQS4");
});

test("cdk-nag and CloudFormation's own checks find nothing if the state is removed with the stack", () => {
  const app = checkedApp();
  new Sluice(new Stack(app, "Sluice", { env }), "Sluice", { removalPolicy: RemovalPolicy.DESTROY });
  expect(() => app.synth()).not.toThrow();
});

test("as many clusters as the app allows with webhooks fit into one stack", () => {
  const clusters = Array.from({ length: 90 }, (_, index) => `${prod}-${index}`);
  const app = checkedApp({ clusters, webhooks: true });
  new SluiceStack(app, "Sluice");
  expect(() => app.synth()).not.toThrow();
});

test("as many clusters as the app allows fit into one stack, and into the policies of its roles", () => {
  const clusters = Array.from({ length: 120 }, (_, index) => `${prod}-${index}`);
  const app = checkedApp({ clusters });
  new SluiceStack(app, "Sluice");
  expect(() => app.synth()).not.toThrow();
});
