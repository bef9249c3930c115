import { Duration, Stack } from "aws-cdk-lib";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { describe, expect, test } from "vitest";
import { type AlarmRow, alarmRows, billedAlarms } from "../lib/alarms.ts";
import { SluiceObservability, type SluiceObservabilityProps } from "../lib/observability.ts";
import { Sluice, type SluiceProps } from "../lib/sluice.ts";
import { drawDashboard } from "./draw-dashboard.ts";
import { checkedApp, env, resourcesOf, type TemplateFile, templateOf } from "./synthesise.ts";

type Given = (stack: Stack) => Omit<SluiceObservabilityProps, "sluice">;

function watched(given: Given = () => ({}), of: (stack: Stack) => SluiceProps = () => ({}), context = {}) {
  const stack = new Stack(checkedApp(context), "Sluice", { env });
  const sluice = new Sluice(stack, "Sluice", of(stack));
  const watch = new SluiceObservability(stack, "Watch", { sluice, ...given(stack) });
  return { stack, watch };
}

const alarmsOf = (template: TemplateFile) => Object.values(resourcesOf(template, "AWS::CloudWatch::Alarm"));
const all: readonly (readonly [string, AlarmRow])[] = Object.entries(alarmRows);
const rows = all.filter(([, { only }]) => only === undefined);

describe("SluiceObservability", () => {
  test("makes the alarms of the list as they are, each tells the topic, and cdk-nag finds nothing", () => {
    const { stack, watch } = watched();
    const template = templateOf(stack);
    expect(Object.keys(watch.alarms)).toEqual(rows.map(([name]) => name));
    const made = alarmsOf(template);
    expect(made).toHaveLength(rows.length);
    for (const [name, row] of rows) {
      const [DatapointsToAlarm, EvaluationPeriods] = row.periods;
      const found = made.find(({ Properties }) => String(Properties["AlarmDescription"]).includes(row.says));
      expect({ name, ...found?.Properties }).toMatchObject({
        name,
        AlarmDescription: `Sluice: ${row.says} ${row.mend}`,
        Threshold: row.threshold,
        ComparisonOperator: row.below === true ? "LessThanThreshold" : "GreaterThanThreshold",
        DatapointsToAlarm,
        EvaluationPeriods,
        TreatMissingData: row.missing,
        AlarmActions: [{ Ref: expect.stringMatching(/^WatchTopic/) }],
        OKActions: [{ Ref: expect.stringMatching(/^WatchTopic/) }],
      });
    }
  });

  test("looks at what exists: queues, functions and table of the installation, and its own metrics", () => {
    const text = JSON.stringify(alarmsOf(templateOf(watched().stack)));
    expect(text).toContain('"MetricName":"PushToApplied","Namespace":"Sluice"');
    expect(text).toMatch(/"Dimensions":\[\{"Name":"installation","Value":\{"Ref":"SluiceTable"\}\}\]/);
    expect(text).toMatch(/"Name":"QueueName","Value":\{"Fn::GetAtt":\["SluiceHintsDeadLetters","QueueName"\]\}/);
    expect(text).toMatch(/"Name":"FunctionName","Value":\{"Ref":"Sluice\w*Sweep\w*"\}/);
  });

  const inside = (stack: Stack): SluiceProps => ({
    networks: {
      inside: {
        vpc: Vpc.fromVpcAttributes(stack, "Vpc", {
          vpcId: "vpc-0123456789abcdef0",
          availabilityZones: ["eu-west-1a"],
          privateSubnetIds: ["subnet-0123456789abcdef0"],
        }),
      },
    },
  });

  test.each([
    { networks: 1, of: undefined, oldest: ["OldestWakeUp"] },
    { networks: 2, of: inside, oldest: ["OldestWakeUp", "OldestWakeUpInside"] },
  ])(
    "with $networks networks CloudWatch bills as many metrics as the cost model counts",
    ({ networks, of, oldest }) => {
      const { stack, watch } = watched(undefined, of);
      const billed = alarmsOf(templateOf(stack)).map(({ Properties }) => {
        const metrics = Properties["Metrics"];
        return Array.isArray(metrics) ? metrics.filter((metric) => "MetricStat" in Object(metric)).length : 1;
      });
      expect(billed.reduce((sum, one) => sum + one, 0)).toBe(billedAlarms(networks));
      expect(Object.keys(watch.alarms).filter((name) => name.startsWith("Oldest"))).toEqual(oldest);
    },
  );

  test("its topic takes TLS alone, and CloudWatch of this account alone", () => {
    const [policy] = Object.values(resourcesOf(templateOf(watched().stack), "AWS::SNS::TopicPolicy"));
    expect(JSON.stringify(policy?.Properties)).toContain('"aws:SecureTransport":"false"');
    expect(policy?.Properties).toMatchObject({
      PolicyDocument: {
        Statement: expect.arrayContaining([
          expect.objectContaining({
            Action: "sns:Publish",
            Effect: "Allow",
            Principal: { Service: "cloudwatch.amazonaws.com" },
            Condition: { StringEquals: { "aws:SourceAccount": env.account } },
          }),
        ]),
      },
    });
  });

  test("with a key of one's own CloudWatch may use it; with a topic of one's own none is made", () => {
    const own = templateOf(
      watched((stack) => ({ encryptionKey: new Key(stack, "Key", { enableKeyRotation: true }) })).stack,
    );
    expect(JSON.stringify(resourcesOf(own, "AWS::KMS::Key"))).toContain("cloudwatch.amazonaws.com");
    const given = templateOf(
      watched((stack) => ({ topic: Topic.fromTopicArn(stack, "Ours", `arn:aws:sns:eu-west-1:${env.account}:ours`) }))
        .stack,
    );
    expect(resourcesOf(given, "AWS::SNS::Topic")).toEqual({});
    expect(() =>
      watched((stack) => ({
        topic: Topic.fromTopicArn(stack, "Ours", `arn:aws:sns:eu-west-1:${env.account}:ours`),
        encryptionKey: new Key(stack, "Key"),
      })),
    ).toThrow("Sluice/Watch has both topic and encryptionKey");
  });

  test("the objective and the addresses are what the properties say", () => {
    const template = templateOf(
      watched(() => ({ pushToApplied: Duration.minutes(5), emails: ["ops@example.test"] })).stack,
    );
    const push = alarmsOf(template).find(({ Properties }) => Properties["MetricName"] === "PushToApplied");
    expect(push?.Properties).toMatchObject({ Threshold: 300_000, ExtendedStatistic: "p95" });
    const [mail] = Object.values(resourcesOf(template, "AWS::SNS::Subscription"));
    expect(mail?.Properties).toMatchObject({ Protocol: "email", Endpoint: "ops@example.test" });
  });

  test("a budget tells the topic at 80 % and for a forecast over it, of the tag alone where there is one", () => {
    const { stack } = watched(() => ({ budget: { amount: 10, tag: { key: "app", value: "sluice" } } }));
    const template = templateOf(stack);
    const [budget] = Object.values(resourcesOf(template, "AWS::Budgets::Budget"));
    expect(budget?.Properties).toMatchObject({
      Budget: { BudgetLimit: { Amount: 10, Unit: "USD" }, CostFilters: { TagKeyValue: ["user:app$sluice"] } },
      NotificationsWithSubscribers: [
        { Notification: { NotificationType: "ACTUAL", Threshold: 80 } },
        { Notification: { NotificationType: "FORECASTED", Threshold: 100 } },
      ],
    });
    expect(JSON.stringify(resourcesOf(template, "AWS::SNS::TopicPolicy"))).toContain("budgets.amazonaws.com");
    expect(() => watched(() => ({ budget: { amount: 0 } }))).toThrow("budget.amount is 0, give US dollars above 0");
  });

  test("there is a dashboard only where it is asked for, and none in an emulator", () => {
    const dashboards = (given: Given, context = {}) =>
      Object.keys(resourcesOf(templateOf(watched(given, undefined, context).stack), "AWS::CloudWatch::Dashboard"));
    expect(dashboards(() => ({}))).toEqual([]);
    expect(dashboards(() => ({ dashboard: true }))).toHaveLength(1);
    expect(dashboards(() => ({ dashboard: true }), { "sluice:emulator": "true" })).toEqual([]);
  });

  test("docs/dashboard.svg shows the dashboard of the template", async () => {
    const template = templateOf(watched(() => ({ dashboard: true })).stack);
    const [dashboard] = Object.values(resourcesOf(template, "AWS::CloudWatch::Dashboard"));
    await expect(drawDashboard(dashboard?.Properties["DashboardBody"])).toMatchFileSnapshot("../../docs/dashboard.svg");
  });
});
