import { Duration, Stack } from "aws-cdk-lib";
import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import {
  Alarm,
  ComparisonOperator,
  type Dashboard,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { type AlarmRow, alarmRows } from "./alarms.ts";
import { sluiceDashboard } from "./dashboard.ts";
import { pascalCase } from "./queues.ts";
import { defaultNetwork } from "./service.ts";
import type { Sluice } from "./sluice.ts";

export interface SluiceObservabilityProps {
  readonly sluice: Sluice;
  /** Where alarms and budget go. Default: a topic of its own, encrypted by SNS and for TLS only. */
  readonly topic?: ITopic;
  /**
   * Encrypts the own topic, for $1.00 a month; its policy lets CloudWatch and Budgets use it, unless it is imported. Default: SNS's own
   * encryption, at no cost.
   */
  readonly encryptionKey?: IKey;
  /** Who gets an email of each alarm; each has to confirm it once. Default: nobody. */
  readonly emails?: readonly string[];
  /** The objective of `PushToApplied`. Default: 2 minutes. */
  readonly pushToApplied?: Duration;
  /** Whether there is a dashboard, for $3.00 a month beyond an account's first three. Default: none. */
  readonly dashboard?: boolean;
  /** An alarm on the month's bill. Default: none. */
  readonly budget?: SluiceBudget;
}

export interface SluiceBudget {
  /** US dollars a month. It is told at 80 % of them, and when the forecast exceeds them. */
  readonly amount: number;
  /**
   * The cost allocation tag and its value that limit the budget to Sluice; Billing has to have activated the tag. Default: no tag, the
   * budget is for all that the account spends.
   */
  readonly tag?: { readonly key: string; readonly value: string };
}

/** Alarms, a topic, and on request a dashboard and a budget. docs/metrics.md lists the alarms and says what to do about each. */
export class SluiceObservability extends Construct {
  readonly topic: ITopic;
  /** By the names of docs/metrics.md; those of a further network end in its name. */
  readonly alarms: Readonly<Record<string, Alarm>>;
  /** Undefined unless asked for, and with the context flag `sluice:emulator`. */
  readonly dashboard: Dashboard | undefined;

  constructor(scope: Construct, id: string, props: SluiceObservabilityProps) {
    super(scope, id);
    const { sluice, budget, pushToApplied = Duration.minutes(2) } = props;
    if (props.topic !== undefined && props.encryptionKey !== undefined) {
      throw new Error(
        `${this.node.path} has both topic and encryptionKey: the key is for a topic of its own, leave one of them out`,
      );
    }
    this.topic = props.topic ?? this.ownTopic(props.encryptionKey, budget !== undefined);
    for (const email of props.emails ?? []) this.topic.addSubscription(new EmailSubscription(email));
    const rows: readonly (readonly [string, AlarmRow])[] = Object.entries({
      ...alarmRows,
      PushToApplied: { ...alarmRows.PushToApplied, threshold: pushToApplied.toMilliseconds() },
    });
    this.alarms = Object.fromEntries(
      rows.flatMap(([name, row]) =>
        metricsOf(row, sluice).map(({ network, metric }) => {
          const key = network === defaultNetwork ? name : `${name}${pascalCase(network)}`;
          return [key, this.alarm(key, row, metric)] as const;
        }),
      ),
    );
    if (props.dashboard === true && !sluice.emulated) {
      this.dashboard = sluiceDashboard(this, "Dashboard", sluice, Object.values(this.alarms));
    }
    if (budget !== undefined) this.budget(budget);
  }

  private alarm(name: string, { missing, below, threshold, periods, says, mend }: AlarmRow, metric: IMetric): Alarm {
    const [datapointsToAlarm, evaluationPeriods] = periods;
    const alarm = new Alarm(this, name, {
      alarmDescription: `Sluice: ${says} ${mend}`,
      metric,
      threshold,
      comparisonOperator:
        below === true ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      datapointsToAlarm,
      evaluationPeriods,
      treatMissingData: missing === "breaching" ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    const tell = new SnsAction(this.topic);
    alarm.addAlarmAction(tell);
    alarm.addOkAction(tell);
    return alarm;
  }

  private ownTopic(key: IKey | undefined, hasBudget: boolean): Topic {
    const { account } = Stack.of(this);
    const senders = ["cloudwatch.amazonaws.com", ...(hasBudget ? ["budgets.amazonaws.com"] : [])];
    const principals = senders.map((sender) => new ServicePrincipal(sender));
    const conditions = { StringEquals: { "aws:SourceAccount": account } };
    const topic = new Topic(this, "Topic", { displayName: "Sluice", enforceSSL: true, masterKey: key });
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: "Tell",
        actions: ["sns:Publish"],
        principals,
        resources: [topic.topicArn],
        conditions,
      }),
    );
    key?.addToResourcePolicy(
      new PolicyStatement({
        sid: "TellEncrypted",
        actions: ["kms:Decrypt", "kms:GenerateDataKey"],
        principals,
        // In a key's policy it is the key itself.
        resources: ["*"],
        conditions,
      }),
    );
    return topic;
  }

  private budget({ amount, tag }: SluiceBudget): void {
    if (!(amount > 0)) throw new Error(`${this.node.path}: budget.amount is ${amount}, give US dollars above 0`);
    const subscribers = [{ subscriptionType: "SNS", address: this.topic.topicArn }];
    const notice = (notificationType: "ACTUAL" | "FORECASTED", threshold: number) => ({
      notification: { comparisonOperator: "GREATER_THAN", thresholdType: "PERCENTAGE", notificationType, threshold },
      subscribers,
    });
    new CfnBudget(this, "Budget", {
      budget: {
        budgetType: "COST",
        timeUnit: "MONTHLY",
        budgetLimit: { amount, unit: "USD" },
        ...(tag === undefined ? {} : { costFilters: { TagKeyValue: [`user:${tag.key}$${tag.value}`] } }),
      },
      notificationsWithSubscribers: [notice("ACTUAL", 80), notice("FORECASTED", 100)],
    });
  }
}

interface NetworkMetric {
  readonly network: string;
  readonly metric: IMetric;
}

/** What an alarm looks at, once for each network where it has one each. */
function metricsOf({ source, statistic, periodMinutes }: AlarmRow, sluice: Sluice): readonly NetworkMetric[] {
  const how = { statistic, period: Duration.minutes(periodMinutes) };
  const only = (metric: IMetric): readonly NetworkMetric[] => [{ network: defaultNetwork, metric }];
  switch (source.of) {
    case "queue": {
      const queues =
        source.queue === "wakeUps" ? sluice.wakeUpQueues : { [defaultNetwork]: queueOf(source.queue, sluice) };
      return Object.entries(queues).map(([network, queue]) => ({
        network,
        metric: sqsMetric(source.metric, queue.queueName, how),
      }));
    }
    case "function":
      return Object.entries(sluice.functions).flatMap(([key, { functionName }]) => {
        const network = key === source.function ? defaultNetwork : key.slice(source.function.length + 1);
        if (key !== source.function && !key.startsWith(`${source.function}-`)) return [];
        const dimensionsMap = { FunctionName: functionName };
        return [
          {
            network,
            metric: new Metric({ namespace: "AWS/Lambda", metricName: source.metric, dimensionsMap, ...how }),
          },
        ];
      });
    case "table": {
      const dimensionsMap = { TableName: sluice.table.tableName };
      const usingMetrics = Object.fromEntries(
        source.metrics.map((metricName, index) => [
          `m${index}`,
          new Metric({ namespace: "AWS/DynamoDB", metricName, dimensionsMap, ...how }),
        ]),
      );
      // DynamoDB writes no zeros, and a sum of something and nothing is nothing.
      const expression = Object.keys(usingMetrics)
        .map((name) => `FILL(${name}, 0)`)
        .join(" + ");
      return only(new MathExpression({ expression, usingMetrics, label: "throttled", period: how.period }));
    }
    case "sluice":
      return only(sluiceMetric(source.metric, sluice, how));
  }
}

type QueueName = "wakeUpDeadLetters" | "parked" | "hintsDeadLetters" | "undeliveredEvents";

function queueOf(name: QueueName, sluice: Sluice) {
  return name === "parked" ? sluice.parkedQueue : sluice[name];
}

interface How {
  readonly statistic: string;
  readonly period: Duration;
}

function sqsMetric(metricName: string, name: string, how: How): Metric {
  return new Metric({ namespace: "AWS/SQS", metricName, dimensionsMap: { QueueName: name }, ...how });
}

function sluiceMetric(metricName: string, { table }: Sluice, how: How): Metric {
  return new Metric({ namespace: "Sluice", metricName, dimensionsMap: { installation: table.tableName }, ...how });
}
