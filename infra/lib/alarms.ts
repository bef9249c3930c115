import { dueIndex } from "../../lib/aws/dynamodb/table.ts";
import type { MetricName } from "../../lib/core/ports/metrics.ts";
import type { QueryName } from "./alarm-queries.ts";

/** The metric of an alarm. `perNetwork`: each network has its own, and so its own alarm. */
export type AlarmSource =
  | {
      readonly of: "queue";
      readonly queue: "wakeUpDeadLetters" | "hintsDeadLetters" | "undeliveredEvents" | "notificationDeadLetters";
      readonly metric: "ApproximateNumberOfMessagesVisible";
    }
  | {
      readonly of: "queues";
      readonly queues: "notificationQueues";
      readonly metric: "ApproximateAgeOfOldestMessage";
    }
  | {
      readonly of: "function";
      readonly function: "sweep" | "reconcile" | "receiver" | "admission" | "collect";
      readonly metric: "Errors" | "Throttles" | "Invocations" | "Url5xxCount";
    }
  | {
      readonly of: "table";
      readonly metrics: readonly ["ReadThrottleEvents", "WriteThrottleEvents"];
      /** It has metrics of its own, beside those of the table. */
      readonly index: string;
    }
  | { readonly of: "sluice"; readonly metric: MetricName };

/**
 * Who is told, and how soon. `page`: the service as a whole does not do its work. `ticket`: an engineer looks at it in working hours; one
 * object differs from git, or the service is slower than it should be.
 */
export type Severity = "page" | "ticket";

/** One alarm as data: the construct makes it, docs/metrics.md lists it, and the cost model counts it. */
export interface AlarmRow {
  readonly source: AlarmSource;
  readonly severity: Severity;
  /** The saved query that names what the alarm is about. Default: none, since no log has it. */
  readonly query?: QueryName;
  readonly statistic: "Maximum" | "Sum" | "p95";
  readonly periodMinutes: number;
  /** In how many of how many periods it has to breach. */
  readonly periods: readonly [breaching: number, of: number];
  /** It breaches above this value; `below`: below it. In the unit of the metric. */
  readonly threshold: number;
  readonly below?: true;
  /** How missing data count. */
  readonly missing: "breaching" | "notBreaching";
  /** The property of `Sluice` that this alarm needs. Default: none, the alarm always exists. */
  readonly only?: "webhooks" | "notifications" | "admission";
  /** The explanation for the person who gets the alarm. */
  readonly says: string;
  /** What to look at first. */
  readonly mend: string;
}

const deadLetters = {
  severity: "ticket",
  statistic: "Maximum",
  periodMinutes: 5,
  periods: [1, 1],
  threshold: 0,
  // SQS reports nothing for a queue that has been empty and unused for six hours.
  missing: "notBreaching",
} as const;

/** Faults that last: single ones are tried again by the queue or the next minute. */
const faults = { statistic: "Sum", periodMinutes: 5, periods: [2, 3], threshold: 0, missing: "notBreaching" } as const;

/** Metrics that are written only where there is something to tell. */
const told = { statistic: "Sum", periodMinutes: 5, periods: [1, 1], threshold: 0, missing: "notBreaching" } as const;

/** Its function has failed in two of three periods. */
const failing = (name: "sweep" | "reconcile" | "admission") =>
  ({
    ...faults,
    source: { of: "function", function: name, metric: "Errors" },
    says: `The function ${name} fails again and again.`,
    mend: "Its log names the error; a failure of one object is never an error of the function.",
  }) as const;

/**
 * All alarms, by the id of their construct. CloudWatch bills each metric that an alarm looks at, so what one alarm covers has no second:
 * an object that is parked is not Ready; wake-ups that wait or that Lambda throttles are runs that do not begin; a function ingest that
 * fails or is throttled ends in a dead letter; and an error of receiver is an answer 5xx of its URL.
 */
export const alarmRows = {
  SweepNotRun: {
    severity: "page",
    query: "SweepErrors",
    statistic: "Sum",
    periodMinutes: 5,
    periods: [1, 1],
    threshold: 1,
    below: true,
    // Lambda writes no zero: a schedule that is off writes nothing.
    missing: "breaching",
    source: { of: "function", function: "sweep", metric: "Invocations" },
    says: "The sweep has not run for five minutes.",
    mend: "Check its schedule and the account's concurrency. Until it runs, Sluice does not find lost wake-ups and changed specs.",
  },
  SweepErrors: { ...failing("sweep"), severity: "page", query: "SweepErrors" },
  ReconcileNotRun: {
    ...told,
    severity: "page",
    query: "ReconcileNotRun",
    source: { of: "sluice", metric: "ReconcilesNotRun" },
    says: "Objects are due, and none of their runs has begun for a quarter of an hour.",
    mend: "Check why the function reconcile takes no messages: its event source mapping, its errors, the account's concurrency. If it runs all the time, raise maxConcurrency of Sluice in an app of your own, or find the cluster that uses all runs.",
  },
  ReconcileErrors: { ...failing("reconcile"), severity: "page", query: "ReconcileErrors" },
  ClusterUnreachable: {
    ...told,
    severity: "page",
    query: "ClusterUnreachable",
    source: { of: "sluice", metric: "ClusterUnreachable" },
    says: "A cluster has not answered three sweeps in a row, one a minute. Its runs wait, unless it still answers small reads.",
    mend: "The query names the cluster and the reason: its endpoint, its access entry or its network.",
  },
  ObjectNotReady: {
    ...told,
    severity: "ticket",
    query: "ObjectNotReady",
    source: { of: "sluice", metric: "ObjectsNotReady" },
    says: "An object is Stalled, or has not been Ready for longer than 30 minutes. The alarm ends when no such object is left.",
    mend: "The query names the objects, and the Ready condition of each says why. A parked object (reason Poisoned) runs again when its spec or source changes.",
  },
  OtherOwner: {
    ...told,
    severity: "ticket",
    query: "OtherOwner",
    source: { of: "sluice", metric: "ReconcilesRefused" },
    says: "A cluster belongs to another installation or is paused, so this one writes nothing to it.",
    mend: "The query says which: sluice take-over makes this installation the owner, sluice resume ends a pause.",
  },
  WakeUpDeadLetters: {
    ...deadLetters,
    query: "WakeUpDeadLetters",
    source: { of: "queue", queue: "wakeUpDeadLetters", metric: "ApproximateNumberOfMessagesVisible" },
    says: "A wake-up was received too often without being handled.",
    mend: "The query says why. No object is lost: the sweep wakes it. Fix the cause, then move the messages back with the command in the stack's output RedriveWakeUps.",
  },
  HintDeadLetters: {
    ...deadLetters,
    query: "HintDeadLetters",
    source: { of: "queue", queue: "hintsDeadLetters", metric: "ApproximateNumberOfMessagesVisible" },
    says: "An event of a push could not be handled.",
    mend: "The query says why; if it finds nothing, Lambda throttles the function ingest. The source's interval finds the push; the command in the stack's output RedriveHints is faster.",
  },
  UndeliveredEvents: {
    ...deadLetters,
    source: { of: "queue", queue: "undeliveredEvents", metric: "ApproximateNumberOfMessagesVisible" },
    says: "EventBridge could not deliver an event or a tick of the schedule.",
    mend: "The command in the stack's output RedriveUndelivered shows the errors with --dry-run, usually a policy that was changed by hand. Without --dry-run it sends the events again as hints.",
  },
  EventsRefused: {
    ...told,
    periodMinutes: 60,
    severity: "ticket",
    query: "EventsRefused",
    source: { of: "sluice", metric: "EventsRefused" },
    says: "An event or a delivery to a Receiver was refused: its type or shape is unknown, its account is not listed, or its signature is wrong.",
    mend: "The query says which and why: correct the sender, give it the token of the Receiver, or list its account in pushesFrom of Sluice in an app of your own.",
  },
  EventsMissed: {
    ...told,
    periodMinutes: 60,
    severity: "ticket",
    query: "EventsMissed",
    source: { of: "sluice", metric: "EventsMissed" },
    says: "A source found a new revision at its interval that no event had announced.",
    mend: "With ECR and CodeCommit, check the rule in the account and region, and the undelivered events. Otherwise check the deliveries that the git host or registry shows for its webhook.",
  },
  PushToApplied: {
    severity: "ticket",
    query: "PushToApplied",
    statistic: "p95",
    periodMinutes: 15,
    periods: [1, 1],
    threshold: 120_000,
    missing: "notBreaching",
    source: { of: "sluice", metric: "PushToApplied" },
    says: "The time from a push to its objects in the cluster is longer than the objective.",
    mend: "The query names the slowest objects; the dashboard shows which part is slow: runs, waiting wake-ups, or the cluster.",
  },
  ReceiverThrottles: {
    ...faults,
    severity: "ticket",
    only: "webhooks",
    query: "ReceiverAnswers5xx",
    source: { of: "function", function: "receiver", metric: "Throttles" },
    says: "Lambda throttles the function receiver.",
    mend: "More deliveries arrive at once than the function can handle (infra/lib/functions.ts): many pushes, or a scanner that tries paths.",
  },
  ReceiverAnswers5xx: {
    ...faults,
    severity: "ticket",
    only: "webhooks",
    query: "ReceiverAnswers5xx",
    source: { of: "function", function: "receiver", metric: "Url5xxCount" },
    says: "Deliveries to Receivers are answered with an error.",
    mend: "The query names the Receiver. The usual causes are a filter without a result and a cluster that does not answer.",
  },
  NotificationDeadLetters: {
    ...deadLetters,
    only: "notifications",
    query: "NotificationsNotHandled",
    source: { of: "queue", queue: "notificationDeadLetters", metric: "ApproximateNumberOfMessagesVisible" },
    says: "A notification was received too often without being delivered.",
    mend: "The query says why: a cluster that did not answer for two hours, or a missing right in it. A notification that a Provider refuses is not here: an event on its Alert reports it. Move the messages back with the command in the stack's output RedriveNotifications.",
  },
  NotificationsLate: {
    severity: "ticket",
    only: "notifications",
    query: "NotificationsNotHandled",
    statistic: "Maximum",
    periodMinutes: 5,
    periods: [2, 2],
    threshold: 600,
    missing: "notBreaching",
    source: { of: "queues", queues: "notificationQueues", metric: "ApproximateAgeOfOldestMessage" },
    says: "Notifications have waited for more than ten minutes.",
    mend: "The query says why they are retried. If it finds nothing, check why the function notify takes no messages: its event source mapping, its errors, the account's concurrency. Or a Provider does not answer, and many notifications wait behind it.",
  },
  AdmissionErrors: { ...failing("admission"), severity: "ticket", only: "admission", query: "AdmissionErrors" },
  HintsDropped: {
    ...faults,
    periods: [3, 3],
    severity: "ticket",
    only: "admission",
    query: "HintsDropped",
    source: { of: "sluice", metric: "HintsDropped" },
    says: "For a quarter of an hour the admission webhook has not reported all changes.",
    mend: "The sweep finds them within a minute. The query names the cluster: its objects change more often than 50 times a second, or the queue refuses messages.",
  },
  CollectErrors: {
    ...told,
    // It runs once a day, and nothing runs it again before.
    periodMinutes: 1_440,
    severity: "ticket",
    query: "CollectErrors",
    source: { of: "function", function: "collect", metric: "Errors" },
    says: "The function collect has failed, so artifacts that no source names are not deleted until its next run, a day later.",
    mend: "Its log names the error: let the query look through the last day. To run it at once, invoke the function with the event {}.",
  },
  TableThrottles: {
    ...faults,
    severity: "ticket",
    query: "TableThrottles",
    source: { of: "table", metrics: ["ReadThrottleEvents", "WriteThrottleEvents"], index: dueIndex },
    says: "DynamoDB throttles the state table or its index.",
    mend: "Check the table's on-demand quota, and its hottest keys with Contributor Insights.",
  },
} as const satisfies Readonly<Record<string, AlarmRow>>;

/**
 * How many metrics the alarms of an installation look at: CloudWatch bills each as an alarm.
 *
 * @param options what the installation has that is optional
 */
export function billedAlarms(networks: number, options: readonly AlarmRow["only"][] = []): number {
  const rows: readonly AlarmRow[] = Object.values(alarmRows);
  const made = rows.filter(({ only }) => only === undefined || options.includes(only));
  return made.reduce((sum, { source }) => sum + metricsOf(source) * (isPerNetwork(source) ? networks : 1), 0);
}

function metricsOf(source: AlarmSource): number {
  // Metrics of the table and of its index.
  return source.of === "table" ? 2 * source.metrics.length : 1;
}

/** Whether there is an alarm for each network. */
export function isPerNetwork(source: AlarmSource): boolean {
  if (source.of === "queues") return true;
  return source.of === "function" && (source.function === "reconcile" || source.function === "receiver");
}
