import type { MetricName } from "../../lib/core/ports/metrics.ts";

/** What an alarm looks at. `perNetwork`: there is one for each network, so there is one alarm for each. */
export type AlarmSource =
  | {
      readonly of: "queue";
      readonly queue: "wakeUps" | "wakeUpDeadLetters" | "parked" | "hintsDeadLetters" | "undeliveredEvents";
      readonly metric: "ApproximateNumberOfMessagesVisible" | "ApproximateAgeOfOldestMessage";
    }
  | {
      readonly of: "function";
      readonly function: "ingest" | "sweep" | "reconcile" | "receiver" | "admission";
      readonly metric: "Errors" | "Throttles" | "Invocations" | "Url5xxCount";
    }
  | { readonly of: "table"; readonly metrics: readonly ["ReadThrottleEvents", "WriteThrottleEvents"] }
  | { readonly of: "sluice"; readonly metric: MetricName };

/** One alarm as data: the construct makes it, docs/metrics.md lists it, and the cost model counts it. */
export interface AlarmRow {
  readonly source: AlarmSource;
  readonly statistic: "Maximum" | "Sum" | "p95";
  readonly periodMinutes: number;
  /** In how many of how many periods it has to breach. */
  readonly periods: readonly [breaching: number, of: number];
  /** It breaches above this value; `below`: below it. In the unit of the metric. */
  readonly threshold: number;
  readonly below?: true;
  /** What no data mean. */
  readonly missing: "breaching" | "notBreaching";
  /** The property of `Sluice` without which there is no such alarm. Default: there always is. */
  readonly only?: "webhooks" | "admission";
  /** What has happened, for the person who is told. */
  readonly says: string;
  /** What to look at first. */
  readonly mend: string;
}

const deadLetters = {
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

const errors = (name: "ingest" | "sweep" | "reconcile" | "receiver" | "admission"): AlarmRow => ({
  ...faults,
  source: { of: "function", function: name, metric: "Errors" },
  says: `The function ${name} fails again and again.`,
  mend: "Its log names the error; a fault of one object is never an error of the function.",
});

const throttles = (name: "ingest" | "reconcile" | "receiver"): AlarmRow => ({
  ...faults,
  source: { of: "function", function: name, metric: "Throttles" },
  says: `Lambda does not start the function ${name} as often as it should.`,
  mend: "Look at the account's concurrency in this region, and have its quota raised.",
});

/** All alarms, by the id of their construct. */
export const alarmRows = {
  ParkedObject: {
    ...deadLetters,
    source: { of: "queue", queue: "parked", metric: "ApproximateNumberOfMessagesVisible" },
    says: "An object is parked after twelve runs that did not end.",
    mend: "Its dead letter and its Ready condition name the fault. It runs again when its spec or source changes.",
  },
  WakeUpDeadLetters: {
    ...deadLetters,
    source: { of: "queue", queue: "wakeUpDeadLetters", metric: "ApproximateNumberOfMessagesVisible" },
    says: "A wake-up was received too often without being handled.",
    mend: "The log of reconcile says why. No object is lost: the sweep wakes it. Purge the queue afterwards.",
  },
  HintDeadLetters: {
    ...deadLetters,
    source: { of: "queue", queue: "hintsDeadLetters", metric: "ApproximateNumberOfMessagesVisible" },
    says: "An event of a push could not be taken in.",
    mend: "The log of ingest says why. The source's interval finds the push; move the messages back to be faster.",
  },
  UndeliveredEvents: {
    ...deadLetters,
    source: { of: "queue", queue: "undeliveredEvents", metric: "ApproximateNumberOfMessagesVisible" },
    says: "EventBridge could not deliver an event or a tick of the schedule.",
    mend: "The message's attributes name the error: mostly a policy that was changed by hand.",
  },
  OldestWakeUp: {
    statistic: "Maximum",
    periodMinutes: 5,
    periods: [1, 1],
    // A delayed message counts from its sending: 15 minutes are the longest delay, and a run may take as long.
    threshold: 1_800,
    missing: "notBreaching",
    source: { of: "queue", queue: "wakeUps", metric: "ApproximateAgeOfOldestMessage" },
    says: "Wake-ups wait for longer than half an hour.",
    mend: "Raise maxConcurrency, or find the cluster whose runs take all places.",
  },
  IngestErrors: errors("ingest"),
  SweepErrors: errors("sweep"),
  ReconcileErrors: errors("reconcile"),
  IngestThrottles: throttles("ingest"),
  // None for sweep: its throttles are no invocations, which SweepNotRun tells.
  ReconcileThrottles: throttles("reconcile"),
  ReceiverErrors: { ...errors("receiver"), only: "webhooks" },
  ReceiverThrottles: {
    ...throttles("receiver"),
    only: "webhooks",
    mend: "More deliveries come at once than the function takes (infra/lib/functions.ts): many pushes, or somebody who tries paths.",
  },
  ReceiverAnswers5xx: {
    ...faults,
    only: "webhooks",
    source: { of: "function", function: "receiver", metric: "Url5xxCount" },
    says: "Deliveries to Receivers are answered with an error.",
    mend: "The log of receiver names the Receiver: mostly a filter without a result, or a cluster that does not answer.",
  },
  AdmissionErrors: { ...errors("admission"), only: "admission" },
  SweepNotRun: {
    statistic: "Sum",
    periodMinutes: 5,
    periods: [1, 1],
    threshold: 1,
    below: true,
    // Lambda writes no zero: a schedule that is off writes nothing.
    missing: "breaching",
    source: { of: "function", function: "sweep", metric: "Invocations" },
    says: "The sweep has not run for five minutes.",
    mend: "Look whether its schedule is enabled. Until it runs, lost wake-ups and changed specs are not found.",
  },
  ObjectNotReady: {
    ...told,
    periodMinutes: 60,
    source: { of: "sluice", metric: "ObjectsNotReady" },
    says: "An object is Stalled, or has not been Ready for longer than 30 minutes.",
    mend: "sluice get kustomizations -A and sluice get sources oci -A name it, and its Ready condition says why.",
  },
  EventsMissed: {
    ...told,
    periodMinutes: 60,
    source: { of: "sluice", metric: "EventsMissed" },
    says: "A source found at its interval what no event had announced.",
    mend: "In ECR and CodeCommit look whether the account and region have their rule, and at the undelivered events; else at the deliveries that the git host or registry shows for its webhook.",
  },
  PushToApplied: {
    statistic: "p95",
    periodMinutes: 15,
    periods: [1, 1],
    threshold: 120_000,
    missing: "notBreaching",
    source: { of: "sluice", metric: "PushToApplied" },
    says: "From a push to its objects in the cluster it takes longer than the objective.",
    mend: "The dashboard shows which part is slow: runs, waiting wake-ups, or the cluster.",
  },
  ClusterUnreachable: {
    ...told,
    threshold: 2,
    source: { of: "sluice", metric: "ClusterUnreachable" },
    says: "A cluster has not answered for three minutes; its runs wait.",
    mend: "The log names the cluster and the reason: its endpoint, its access entry or its network.",
  },
  OtherOwner: {
    ...told,
    source: { of: "sluice", metric: "ReconcilesRefused" },
    says: "A cluster belongs to another installation, or is paused, so this one writes nothing to it.",
    mend: "The log says which: sluice take-over makes this installation the owner, sluice resume ends a pause.",
  },
  TableThrottles: {
    ...faults,
    source: { of: "table", metrics: ["ReadThrottleEvents", "WriteThrottleEvents"] },
    says: "DynamoDB throttles the state table.",
    mend: "Look at the table's quota on demand, and at its hottest keys with Contributor Insights.",
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
  return source.of === "table" ? source.metrics.length : 1;
}

/** Whether there is an alarm for each network. */
export function isPerNetwork(source: AlarmSource): boolean {
  return (
    (source.of === "queue" && source.queue === "wakeUps") ||
    (source.of === "function" && (source.function === "reconcile" || source.function === "receiver"))
  );
}
