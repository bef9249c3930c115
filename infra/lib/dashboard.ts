import { Duration } from "aws-cdk-lib";
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  Metric,
  PeriodOverride,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { Sluice } from "./sluice.ts";

const period = Duration.minutes(5);
const third = 8;
const height = 6;

/** One dashboard with three rows: is it healthy, what is slow, what does it cost. Its queries of logs are billed where it is open. */
export function sluiceDashboard(scope: Construct, id: string, sluice: Sluice, alarms: readonly Alarm[]): Dashboard {
  const dashboard = new Dashboard(scope, id, {
    defaultInterval: Duration.hours(6),
    periodOverride: PeriodOverride.AUTO,
  });
  const graph = (title: string, left: readonly (Metric | MathExpression)[]): GraphWidget =>
    new GraphWidget({ title, left: [...left], width: third, height, leftYAxis: { min: 0, showUnits: false } });
  dashboard.addWidgets(
    text("## Is it healthy", "Alarms and what to do about each: docs/metrics.md."),
    new AlarmStatusWidget({ title: "Alarms", alarms: [...alarms], width: third, height }),
    graph("Runs that failed, objects not Ready", [
      own(sluice, "ReconcilesFailed", "Sum", "failed"),
      own(sluice, "ObjectsNotReady", "Sum", "not Ready for long"),
      own(sluice, "ReconcilesParked", "Sum", "parked"),
      own(sluice, "ClusterUnreachable", "Sum", "cluster unreachable"),
    ]),
    objects(sluice, "Objects that failed most", [
      "filter ReconcilesFailed = 1",
      "stats count(*) as failures by cluster, kind, namespace, name",
      "sort failures desc",
      "limit 10",
    ]),
  );
  dashboard.addWidgets(
    text("## What is slow", "The objective is from a push to its objects in the cluster."),
    graph("From push to applied, ms", [
      own(sluice, "PushToApplied", "p50", "median"),
      own(sluice, "PushToApplied", "p95", "p95"),
    ]),
    graph("Duration of runs that did something, ms, p95", [
      own(sluice, "ReconcileDuration", "p95", "Kustomization", { kind: "Kustomization" }),
      own(sluice, "ReconcileDuration", "p95", "OCIRepository", { kind: "OCIRepository" }),
    ]),
    graph("Age of the oldest message, s", [
      ...Object.entries(sluice.wakeUpQueues).map(([network, queue]) => oldest(queue, network)),
      ...Object.entries(sluice.notificationQueues).map(([network, queue]) =>
        oldest(queue, `${network}, notifications`),
      ),
    ]),
  );
  dashboard.addWidgets(
    text("## What it costs", "Each line times its price is the part of the bill that grows: docs/cost.md."),
    graph("Table, units", [
      aws("AWS/DynamoDB", "ConsumedWriteCapacityUnits", { TableName: sluice.table.tableName }, "Sum", "writes"),
      aws("AWS/DynamoDB", "ConsumedReadCapacityUnits", { TableName: sluice.table.tableName }, "Sum", "reads"),
    ]),
    graph(
      "Functions, seconds",
      Object.entries(sluice.functions).map(([name, { functionName }], index) => {
        const duration = aws("AWS/Lambda", "Duration", { FunctionName: functionName }, "Sum", name);
        return new MathExpression({
          expression: `d${index} / 1000`,
          usingMetrics: { [`d${index}`]: duration },
          label: name,
          period,
        });
      }),
    ),
    graph("Queues, messages received and empty answers", [
      ...Object.values(sluice.wakeUpQueues).flatMap(({ queueName }) => [
        aws("AWS/SQS", "NumberOfMessagesReceived", { QueueName: queueName }, "Sum", "wake-ups"),
        aws("AWS/SQS", "NumberOfEmptyReceives", { QueueName: queueName }, "Sum", "wake-ups, empty"),
      ]),
      aws("AWS/SQS", "NumberOfEmptyReceives", { QueueName: sluice.hintsQueue.queueName }, "Sum", "hints, empty"),
    ]),
  );
  return dashboard;
}

function text(title: string, words: string): TextWidget {
  return new TextWidget({ markdown: `${title}\n${words}`, width: 24, height: 2 });
}

function oldest({ queueName }: IQueue, label: string): Metric {
  return aws("AWS/SQS", "ApproximateAgeOfOldestMessage", { QueueName: queueName }, "Maximum", label);
}

function own(
  { table }: Sluice,
  metricName: string,
  statistic: string,
  label: string,
  dimensions: Readonly<Record<string, string>> = {},
): Metric {
  return aws("Sluice", metricName, { installation: table.tableName, ...dimensions }, statistic, label);
}

function aws(
  namespace: string,
  metricName: string,
  dimensionsMap: Readonly<Record<string, string>>,
  statistic: string,
  label: string,
): Metric {
  return new Metric({ namespace, metricName, dimensionsMap, statistic, label, period });
}

/** A query of the logs of the reconcile functions, since a metric has no name of an object. */
function objects({ logGroups }: Sluice, title: string, queryLines: readonly string[]): LogQueryWidget {
  const logGroupNames = Object.entries(logGroups).flatMap(([name, { logGroupName }]) =>
    name.startsWith("reconcile") ? [logGroupName] : [],
  );
  return new LogQueryWidget({
    title,
    logGroupNames,
    queryLines: [...queryLines],
    view: LogQueryVisualizationType.TABLE,
    width: third,
    height,
  });
}
