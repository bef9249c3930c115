import { Stack } from "aws-cdk-lib";
import { describe, expect, test } from "vitest";
import codeCommitEvents from "../lib/code-commit.pattern.json" with { type: "json" };
import customEvents from "../lib/custom.pattern.json" with { type: "json" };
import ecrEvents from "../lib/ecr.pattern.json" with { type: "json" };
import { Sluice, SluicePushForwarding } from "../lib/index.ts";
import { checkOrigin, eventOrigins } from "../lib/pushes.ts";
import { checkedApp, env, resourcesOf, templateOf } from "./synthesise.ts";

const there = { account: "210987654321", region: "eu-north-1" };
const eventBusArn = "arn:aws:events:eu-west-1:123456789012:event-bus/default";
const patterns = [ecrEvents, codeCommitEvents, customEvents];

function forwarding(arn: string): Stack {
  const stack = new Stack(checkedApp(), "There", { env: there });
  new SluicePushForwarding(stack, "Pushes", { eventBusArn: arn });
  return stack;
}

describe("SluicePushForwarding", () => {
  const template = templateOf(forwarding(eventBusArn));
  const queues = Object.entries(resourcesOf(template, "AWS::SQS::Queue"));
  const rules = Object.values(resourcesOf(template, "AWS::Events::Rule"));
  const [[queue, undelivered] = []] = queues;

  test("sends the events of every sender to the bus, and undeliverable ones to its queue", () => {
    expect(rules.map(({ Properties }) => Properties["EventPattern"])).toEqual(patterns);
    for (const { Properties } of rules) {
      expect(Properties).toMatchObject({ State: "ENABLED" });
      expect(Properties["Targets"]).toEqual([
        {
          Id: expect.any(String),
          Arn: eventBusArn,
          RoleArn: { "Fn::GetAtt": [expect.stringContaining("Role"), "Arn"] },
          DeadLetterConfig: { Arn: { "Fn::GetAtt": [queue, "Arn"] } },
        },
      ]);
    }
    const policies = Object.values(resourcesOf(template, "AWS::IAM::Policy")).map(({ Properties }) => Properties);
    expect(policies.length).toBeGreaterThan(0);
    for (const policy of policies) {
      const statement = { Action: "events:PutEvents", Effect: "Allow", Resource: eventBusArn };
      expect(policy["PolicyDocument"]).toMatchObject({ Statement: [statement] });
    }
  });

  test("has one queue that keeps events for 14 days, which only its rules may send to, over TLS", () => {
    expect(queues).toHaveLength(1);
    expect(undelivered?.Properties).toEqual({ MessageRetentionPeriod: 14 * 24 * 3600 });
    const policy = JSON.stringify(resourcesOf(template, "AWS::SQS::QueuePolicy"));
    expect(policy).toContain('"aws:SecureTransport":"false"');
    expect(policy.split('"Service":"events.amazonaws.com"')).toHaveLength(1 + rules.length);
  });

  test.each([
    "arn:aws:sqs:eu-west-1:123456789012:queue",
    "arn:aws:events:eu-west-1:1:event-bus/default",
    "arn:aws:events:eu-west-1:123456789012:event-bus/",
    "arn:aws:events:eu-west-1:123456789012:rule/default",
    `x${eventBusArn}`,
    "default",
  ])("refuses %j, and says what to write instead", (arn) => {
    expect(() => forwarding(arn)).toThrow(
      "is not an event bus: write arn:aws:events:<region>:<account>:event-bus/default",
    );
  });

  test.each([eventBusArn.replace("arn:aws:", "arn:aws-cn:"), eventBusArn.replace("default", "ours/pushes")])(
    "accepts %j",
    (arn) => {
      expect(JSON.stringify(templateOf(forwarding(arn)))).toContain(arn);
    },
  );
});

describe("pushesFrom", () => {
  const other = "210987654321";
  const pushesFrom = [{ account: other }, { region: "eu-north-1" }, { account: other, region: "us-east-1" }];
  const stack = new Stack(checkedApp(), "Sluice", { env });
  new Sluice(stack, "Sluice", { pushesFrom });
  const template = templateOf(stack);

  test("allows each account once, and accepts the events of each account and region in addition to its own", () => {
    const policies = Object.values(resourcesOf(template, "AWS::Events::EventBusPolicy"));
    expect(policies.map(({ Properties }) => Properties["StatementId"])).toEqual([`sluice-pushes-from-${other}`]);
    expect(policies[0]?.Properties["Statement"]).toMatchObject({
      Action: "events:PutEvents",
      Condition: {
        StringEquals: {
          "events:source": patterns.flatMap(({ source }) => source),
          "events:detail-type": patterns.flatMap((pattern) => pattern["detail-type"]),
        },
      },
    });
    const rules = Object.values(resourcesOf(template, "AWS::Events::Rule")).flatMap(({ Properties }) =>
      Properties["EventPattern"] === undefined ? [] : [Properties["EventPattern"]],
    );
    const from = { account: [env.account, other], region: [env.region, "eu-north-1", "us-east-1"] };
    expect(rules).toEqual(patterns.map((pattern) => ({ ...pattern, ...from })));
  });

  test("tells the function which account belongs to which region", () => {
    const own = `${env.account}/eu-west-1`;
    const origins = [own, `${other}/eu-west-1`, `${env.account}/eu-north-1`, `${other}/us-east-1`];
    expect(eventOrigins(stack, [...pushesFrom, {}])).toEqual(origins);
    expect(JSON.stringify(resourcesOf(template, "AWS::Lambda::Function"))).toContain(
      `"SLUICE_EVENTS_FROM":"${origins.join(",")}"`,
    );
  });

  test.each([
    env,
    { account: other, region: env.region },
    { account: env.account, region: "eu-north-1" },
    { account: other, region: "us-east-1" },
  ])("a rule forwards the events of a repository in $account/$region", (repository) => {
    expect(() => checkOrigin("the repository", repository, env, pushesFrom)).not.toThrow();
  });

  test.each([
    { account: other, region: "eu-north-1" },
    { account: env.account, region: "us-east-1" },
  ])(
    "refuses a repository in $account/$region, whose account and region are listed, but not together",
    ({ account, region }) => {
      expect(() => checkOrigin("the repository", { account, region }, env, pushesFrom)).toThrow(
        `add { account: "${account}", region: "${region}" } to pushesFrom of the Sluice`,
      );
    },
  );
});
