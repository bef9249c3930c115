import { Duration, Stack } from "aws-cdk-lib";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { alarmQueries, queryText } from "../lib/alarm-queries.ts";
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
/** A description with each token in angle brackets. */
function describedBy({ AlarmDescription: given }: Readonly<Record<string, unknown>>): string {
  const joined = z.object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) }).safeParse(given);
  if (!joined.success) return String(given);
  return joined.data["Fn::Join"][1].map((part) => (typeof part === "string" ? part : "<token>")).join("");
}
const all: readonly (readonly [string, AlarmRow])[] = Object.entries(alarmRows);
const rows = all.filter(([, { only }]) => only === undefined);

describe("SluiceObservability", () => {
  test("creates the listed alarms, each notifies the topic of its severity, and cdk-nag finds nothing", () => {
    const { stack, watch } = watched();
    const template = templateOf(stack);
    expect(Object.keys(watch.alarms)).toEqual(rows.map(([name]) => name));
    const made = alarmsOf(template);
    expect(made).toHaveLength(rows.length);
    for (const [name, row] of rows) {
      const [DatapointsToAlarm, EvaluationPeriods] = row.periods;
      const found = made.find(({ Properties }) => describedBy(Properties).includes(`Sluice: ${row.says} ${row.mend}`));
      const topic = [{ Ref: expect.stringMatching(row.severity === "page" ? /^WatchPageTopic/ : /^WatchTicketTopic/) }];
      expect({ name, ...found?.Properties }).toMatchObject({
        name,
        Threshold: row.threshold,
        ComparisonOperator: row.below === true ? "LessThanThreshold" : "GreaterThanThreshold",
        DatapointsToAlarm,
        EvaluationPeriods,
        TreatMissingData: row.missing,
        AlarmActions: topic,
        OKActions: topic,
      });
    }
  });

  test("watches existing resources: queues, functions and table of the installation, and its own metrics", () => {
    const text = JSON.stringify(alarmsOf(templateOf(watched().stack)));
    expect(text).toContain('"MetricName":"PushToApplied","Namespace":"Sluice"');
    expect(text).toMatch(/"Dimensions":\[\{"Name":"installation","Value":\{"Ref":"SluiceTable"\}\}\]/);
    expect(text).toMatch(/"Name":"QueueName","Value":\{"Fn::GetAtt":\["SluiceHintsDeadLetters","QueueName"\]\}/);
    expect(text).toMatch(/"Name":"FunctionName","Value":\{"Ref":"Sluice\w*Sweep\w*"\}/);
  });

  test("an alarm links its saved query, which names the logs of the functions concerned", () => {
    const template = templateOf(watched().stack);
    const saved = Object.values(resourcesOf(template, "AWS::Logs::QueryDefinition"));
    const names = new Set(rows.flatMap(([, { query }]) => query ?? []));
    expect(saved.map(({ Properties }) => String(Properties["Name"])).toSorted()).toEqual(
      [...names].map((name) => `Sluice/Watch/${name}`).toSorted(),
    );
    const query = saved.find(({ Properties }) => Properties["Name"] === "Sluice/Watch/ObjectNotReady");
    expect(query?.Properties).toMatchObject({
      QueryString: queryText(alarmQueries.ObjectNotReady),
      LogGroupNames: [{ Ref: expect.stringMatching(/Reconcile.*Log/) }],
    });
    const alarm = alarmsOf(template).find(({ Properties }) => Properties["MetricName"] === "ObjectsNotReady");
    const described = describedBy(alarm?.Properties ?? {});
    expect(described).toContain("Saved query Sluice/Watch/ObjectNotReady: https://eu-west-1.<token>/cloudwatch/home");
    expect(described).toContain("editorString~'filter*20ObjectsNotReady*20*3E*3D*201*0A*7C*20stats");
    expect(described).toContain("source~(~'<token>)");
  });

  test("descriptions stay below CloudWatch's 1,024 characters, even with the longest names of log groups", () => {
    const { stack } = watched(undefined, () => ({ webhooks: true, notifications: true, admission: true }));
    const lengths = alarmsOf(templateOf(stack)).map(
      ({ Properties }) => describedBy(Properties).replaceAll("<token>", "x".repeat(70)).length,
    );
    expect(Math.max(...lengths)).toBeLessThanOrEqual(1_024);
  });

  test("console links are those of the partition, even if the stack has no region yet", () => {
    const stack = new Stack(checkedApp(), "Sluice");
    const sluice = new Sluice(stack, "Sluice");
    new SluiceObservability(stack, "Watch", { sluice });
    const template = templateOf(stack);
    expect(JSON.stringify(template["Mappings"])).toContain('"aws-cn":{"domain":"console.amazonaws.cn"}');
    expect(JSON.stringify(alarmsOf(template))).toMatch(
      /\{"Fn::FindInMap":\["WatchConsole\w*",\{"Ref":"AWS::Partition"\},"domain"\]\}/,
    );
  });

  test("in an emulator there are no saved queries, and no alarm links one", () => {
    const template = templateOf(watched(undefined, undefined, { "sluice:emulator": "true" }).stack);
    expect(resourcesOf(template, "AWS::Logs::QueryDefinition")).toEqual({});
    expect(JSON.stringify(alarmsOf(template))).not.toContain("Saved query");
  });

  test("throttles of the table's index raise the alarm of the table", () => {
    const text = JSON.stringify(alarmsOf(templateOf(watched().stack)));
    expect(text).toContain('{"Name":"GlobalSecondaryIndexName","Value":"due"}');
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
    { networks: 1, of: undefined, errors: ["ReconcileErrors"] },
    { networks: 2, of: inside, errors: ["ReconcileErrors", "ReconcileErrorsInside"] },
  ])(
    "with $networks networks CloudWatch bills as many metrics as the cost model counts",
    ({ networks, of, errors }) => {
      const { stack, watch } = watched(undefined, of);
      const billed = alarmsOf(templateOf(stack)).map(({ Properties }) => {
        const metrics = Properties["Metrics"];
        return Array.isArray(metrics) ? metrics.filter((metric) => "MetricStat" in Object(metric)).length : 1;
      });
      expect(billed.reduce((sum, one) => sum + one, 0)).toBe(billedAlarms(networks));
      expect(Object.keys(watch.alarms).filter((name) => name.startsWith("ReconcileErrors"))).toEqual(errors);
    },
  );

  test("its topics accept only TLS, and only CloudWatch of this account", () => {
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

  test("with a custom key CloudWatch may use it; with a custom topic none is created", () => {
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
    ).toThrow("Sluice/Watch has encryptionKey, which is for topics of its own, and is given all its topics");
    expect(() =>
      watched((stack) => ({ topic: new Topic(stack, "Ours"), pageTopic: new Topic(stack, "Pages") })),
    ).toThrow("Sluice/Watch has topic, which is for all alarms, beside pageTopic");
  });

  test("with a custom topic for pages only the other one is created", () => {
    const ours = `arn:aws:sns:eu-west-1:${env.account}:pager`;
    const template = templateOf(watched((stack) => ({ pageTopic: Topic.fromTopicArn(stack, "Ours", ours) })).stack);
    expect(Object.keys(resourcesOf(template, "AWS::SNS::Topic"))).toEqual([expect.stringMatching(/TicketTopic/)]);
    const actions = alarmsOf(template).map(({ Properties }) => JSON.stringify(Properties["AlarmActions"]));
    expect(actions.filter((action) => action.includes(ours))).toHaveLength(
      rows.filter(([, { severity }]) => severity === "page").length,
    );
  });

  test("addresses get the alarms of their severity, and email addresses get all alarms", () => {
    const given = {
      emails: ["all@example.test"],
      pageEmails: ["pager@example.test"],
      ticketEmails: ["desk@example.test"],
    };
    const subscriptions = (template: TemplateFile) =>
      Object.values(resourcesOf(template, "AWS::SNS::Subscription"))
        .map(({ Properties }) => `${String(Properties["Endpoint"])} ${JSON.stringify(Properties["TopicArn"])}`)
        .map((text) => text.replace(/^(\S+) .*(Page|Ticket|Ours).*/, "$1 $2"))
        .toSorted();
    expect(subscriptions(templateOf(watched(() => given).stack))).toEqual([
      "all@example.test Page",
      "all@example.test Ticket",
      "desk@example.test Ticket",
      "pager@example.test Page",
    ]);
    const one = watched((stack) => ({ ...given, topic: new Topic(stack, "Ours", { enforceSSL: true }) }));
    expect(subscriptions(templateOf(one.stack))).toEqual([
      "all@example.test Ours",
      "desk@example.test Ours",
      "pager@example.test Ours",
    ]);
  });

  test("the objective and the addresses come from the properties", () => {
    const template = templateOf(
      watched(() => ({ pushToApplied: Duration.minutes(5), emails: ["ops@example.test"] })).stack,
    );
    const push = alarmsOf(template).find(({ Properties }) => Properties["MetricName"] === "PushToApplied");
    expect(push?.Properties).toMatchObject({ Threshold: 300_000, ExtendedStatistic: "p95" });
    const [mail] = Object.values(resourcesOf(template, "AWS::SNS::Subscription"));
    expect(mail?.Properties).toMatchObject({ Protocol: "email", Endpoint: "ops@example.test" });
  });

  test("a budget notifies the topic at 80 % and for a forecast above it, limited to the tag if there is one", () => {
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

  test("creates a dashboard only on request, and none in an emulator", () => {
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
