import { Aws, CfnMapping, Duration, Stack } from "aws-cdk-lib";
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
import { CfnQueryDefinition } from "aws-cdk-lib/aws-logs";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { type AlarmQuery, alarmQueries, type QueryName, queryText, queryUrl } from "./alarm-queries.ts";
import { type AlarmRow, type AlarmSource, alarmRows, type Severity } from "./alarms.ts";
import { sluiceDashboard } from "./dashboard.ts";
import { pascalCase } from "./queues.ts";
import { defaultNetwork } from "./service.ts";
import type { Sluice } from "./sluice.ts";

export interface SluiceObservabilityProps {
  readonly sluice: Sluice;
  /**
   * Where alarms go that wake an engineer: the service as a whole does not do its work. Default: a topic of its own,
   * encrypted by SNS and for TLS only.
   */
  readonly pageTopic?: ITopic;
  /** Where the other alarms go, which can wait for working hours, and the budget. Default: a topic of its own like the other. */
  readonly ticketTopic?: ITopic;
  /** One topic for both; not with `pageTopic` or `ticketTopic`. */
  readonly topic?: ITopic;
  /**
   * Encrypts the own topics, for $1.00 a month; its policy lets CloudWatch and Budgets use it, unless it is imported. Default: SNS's own
   * encryption, at no cost.
   */
  readonly encryptionKey?: IKey;
  /** Who gets an email of each alarm, as if listed in both of the next two: each has to confirm both topics once. Default: no one. */
  readonly emails?: readonly string[];
  /** Who gets an email of alarms that page. Default: no one. */
  readonly pageEmails?: readonly string[];
  /** Who gets an email of the other alarms and of the budget. Default: no one. */
  readonly ticketEmails?: readonly string[];
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

/** Alarms, each with a saved query that names what it is about, two topics, and on request a dashboard and a budget. docs/metrics.md lists the alarms and says what to do about each. */
export class SluiceObservability extends Construct {
  readonly pageTopic: ITopic;
  readonly ticketTopic: ITopic;
  /** By the names of docs/metrics.md; those of a further network end in its name. */
  readonly alarms: Readonly<Record<string, Alarm>>;
  /** Undefined unless asked for, and with the context flag `sluice:emulator`. */
  readonly dashboard: Dashboard | undefined;

  constructor(scope: Construct, id: string, props: SluiceObservabilityProps) {
    super(scope, id);
    const { sluice, budget, pushToApplied = Duration.minutes(2) } = props;
    const topics = this.topics(props);
    this.pageTopic = topics.page;
    this.ticketTopic = topics.ticket;
    const { emails = [], pageEmails = [], ticketEmails = [] } = props;
    const all = [...emails, ...pageEmails, ...ticketEmails];
    const isOne = this.pageTopic === this.ticketTopic;
    const told = isOne
      ? { page: all, ticket: all }
      : { page: [...emails, ...pageEmails], ticket: [...emails, ...ticketEmails] };
    subscribe(this.pageTopic, told.page);
    if (!isOne) subscribe(this.ticketTopic, told.ticket);
    sluice.recordAlarmEmails("page", told.page);
    sluice.recordAlarmEmails("ticket", told.ticket);
    const rows: readonly (readonly [string, AlarmRow])[] = Object.entries({
      ...alarmRows,
      PushToApplied: { ...alarmRows.PushToApplied, threshold: pushToApplied.toMilliseconds() },
    });
    this.alarms = Object.fromEntries(
      rows.flatMap(([name, row]) =>
        metricsOf(row, sluice).map(({ network, metric }) => {
          const key = network === defaultNetwork ? name : `${name}${pascalCase(network)}`;
          return [key, this.alarm(key, row, metric, sluice)] as const;
        }),
      ),
    );
    if (props.dashboard === true && !sluice.emulated) {
      this.dashboard = sluiceDashboard(this, "Dashboard", sluice, Object.values(this.alarms));
    }
    if (budget !== undefined) this.budget(budget);
  }

  private alarm(name: string, row: AlarmRow, metric: IMetric, sluice: Sluice): Alarm {
    const { severity, missing, below, threshold, periods, says, mend, query } = row;
    const [datapointsToAlarm, evaluationPeriods] = periods;
    const link = query === undefined ? undefined : this.savedQuery(query, sluice);
    const alarm = new Alarm(this, name, {
      alarmDescription: [`Sluice: ${says} ${mend}`, ...(link === undefined ? [] : [link])].join(" "),
      metric,
      threshold,
      comparisonOperator:
        below === true ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      datapointsToAlarm,
      evaluationPeriods,
      treatMissingData: missing === "breaching" ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    const tell = new SnsAction(severity === "page" ? this.pageTopic : this.ticketTopic);
    alarm.addAlarmAction(tell);
    alarm.addOkAction(tell);
    return alarm;
  }

  /** Saves a query, once for all its alarms, and answers where it is. An emulator cannot make it. */
  private savedQuery(name: QueryName, sluice: Sluice): string | undefined {
    if (sluice.emulated) return undefined;
    const query: AlarmQuery = alarmQueries[name];
    const logGroupNames = Object.entries(sluice.logGroups).flatMap(([key, { logGroupName }]) =>
      query.logs.some((log) => key === log || key.startsWith(`${log}-`)) ? [logGroupName] : [],
    );
    const savedAs = `${this.node.path}/${name}`;
    const id = `Query${name}`;
    if (this.node.tryFindChild(id) === undefined) {
      new CfnQueryDefinition(this, id, { name: savedAs, queryString: queryText(query), logGroupNames });
    }
    const { region } = Stack.of(this);
    return `Saved query ${savedAs}: ${queryUrl(query, logGroupNames, { region, domain: this.consoleDomain() })}`;
  }

  /** By the partition, which is known only while the stack is deployed if it has no region yet. */
  private consoleDomain(): string {
    const id = "Console";
    const found = this.node.tryFindChild(id);
    const mapping = found instanceof CfnMapping ? found : new CfnMapping(this, id, { mapping: consoleDomains });
    return mapping.findInMap(Aws.PARTITION, "domain");
  }

  private topics(props: SluiceObservabilityProps): Readonly<Record<Severity, ITopic>> {
    const { topic, pageTopic, ticketTopic, encryptionKey, budget } = props;
    if (topic !== undefined && (pageTopic ?? ticketTopic) !== undefined) {
      throw new Error(
        `${this.node.path} has topic, which is for all alarms, beside ${pageTopic === undefined ? "ticketTopic" : "pageTopic"}: give topic alone, or pageTopic and ticketTopic`,
      );
    }
    const page = topic ?? pageTopic;
    const ticket = topic ?? ticketTopic;
    if (encryptionKey !== undefined && page !== undefined && ticket !== undefined) {
      throw new Error(
        `${this.node.path} has encryptionKey, which is for topics of its own, and is given all its topics: leave encryptionKey out, or one of the topics`,
      );
    }
    return {
      page: page ?? this.ownTopic("PageTopic", "Sluice: page", encryptionKey, false),
      ticket: ticket ?? this.ownTopic("TicketTopic", "Sluice: ticket", encryptionKey, budget !== undefined),
    };
  }

  private ownTopic(id: string, displayName: string, key: IKey | undefined, hasBudget: boolean): Topic {
    const { account } = Stack.of(this);
    const senders = ["cloudwatch.amazonaws.com", ...(hasBudget ? ["budgets.amazonaws.com"] : [])];
    const principals = senders.map((sender) => new ServicePrincipal(sender));
    const conditions = { StringEquals: { "aws:SourceAccount": account } };
    const topic = new Topic(this, id, { displayName, enforceSSL: true, masterKey: key });
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
    const subscribers = [{ subscriptionType: "SNS", address: this.ticketTopic.topicArn }];
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

const consoleDomains = {
  aws: { domain: "console.aws.amazon.com" },
  "aws-cn": { domain: "console.amazonaws.cn" },
  "aws-us-gov": { domain: "console.amazonaws-us-gov.com" },
};

/** Each address once. */
function subscribe(topic: ITopic, emails: readonly string[]): void {
  for (const email of new Set(emails)) topic.addSubscription(new EmailSubscription(email));
}

interface NetworkMetric {
  readonly network: string;
  readonly metric: IMetric;
}

/** What an alarm looks at, once for each network where it has one each. */
function metricsOf({ source, statistic, periodMinutes, only: optional }: AlarmRow, sluice: Sluice) {
  const needed =
    optional === undefined
      ? undefined
      : { webhooks: "receiver", notifications: "notify", admission: "admission" }[optional];
  return needed === undefined || sluice.functions[needed] !== undefined
    ? metricsOfSource(source, { statistic, period: Duration.minutes(periodMinutes) }, sluice)
    : [];
}

function metricsOfSource(source: AlarmSource, how: How, sluice: Sluice): readonly NetworkMetric[] {
  const only = (metric: IMetric): readonly NetworkMetric[] => [{ network: defaultNetwork, metric }];
  switch (source.of) {
    case "queue": {
      const queue = sluice[source.queue];
      return queue === undefined ? [] : only(sqsMetric(source.metric, queue.queueName, how));
    }
    case "queues":
      return Object.entries(sluice[source.queues]).map(([network, { queueName }]) => ({
        network,
        metric: sqsMetric(source.metric, queueName, how),
      }));
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
      const table = { TableName: sluice.table.tableName };
      const places = [table, { ...table, GlobalSecondaryIndexName: source.index }];
      const metrics = places.flatMap((dimensionsMap) =>
        source.metrics.map(
          (metricName) => new Metric({ namespace: "AWS/DynamoDB", metricName, dimensionsMap, ...how }),
        ),
      );
      const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
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
