/** A query of CloudWatch Logs Insights that names what an alarm is about, as data: the construct saves it. */
export interface AlarmQuery {
  /** The functions whose logs it looks through; of reconcile, receiver and notify those of all networks. */
  readonly logs: readonly ("ingest" | "sweep" | "reconcile" | "receiver" | "notify" | "admission" | "collect")[];
  /** Each a command of the query language. */
  readonly lines: readonly string[];
}

/** Where an object is named that one metric counts. */
const byObject = "cluster, kind, namespace, name";

/** Lines of level error, and those that Lambda writes itself: a run that was killed says nothing. */
const errorsOf = (name: AlarmQuery["logs"][number]): AlarmQuery => ({
  logs: [name],
  lines: [
    'filter level = "error" or @message like /Task timed out|Runtime exited|Runtime.ExitError|OutOfMemory/',
    "fields @timestamp, message, error, key.cluster, key.kind, key.namespace, key.name, @message",
    "sort @timestamp desc",
    "limit 50",
  ],
});

/**
 * The queries by name. Their fields are those of the log lines and metrics of `lib` and `functions`: test/unit/infra/alarm-queries.test.ts
 * runs each on lines that the code has written.
 */
export const alarmQueries = {
  SweepErrors: errorsOf("sweep"),
  ReconcileErrors: errorsOf("reconcile"),
  AdmissionErrors: errorsOf("admission"),
  CollectErrors: errorsOf("collect"),
  ReconcileNotRun: {
    logs: ["sweep"],
    lines: ["filter ReconcilesNotRun >= 1", `stats latest(wakeUps) as wokenInVain by ${byObject}, row`, "limit 50"],
  },
  ClusterUnreachable: {
    logs: ["reconcile"],
    lines: [
      'filter message = "sweep of a cluster not finished"',
      "stats count(*) as sweeps, latest(error) as reason by cluster",
    ],
  },
  ObjectNotReady: {
    logs: ["reconcile"],
    lines: [
      "filter ObjectsNotReady >= 1",
      `stats latest(outcome) as lastOutcome, earliest(since) as notReadySince by ${byObject}`,
      "limit 50",
    ],
  },
  OtherOwner: {
    logs: ["reconcile"],
    lines: ["filter ReconcilesRefused >= 1", "stats count(*) as wakeUps by cluster, refused"],
  },
  WakeUpDeadLetters: {
    logs: ["reconcile"],
    lines: ['filter message = "wake-up not handled"', "stats count(*) as times by error", "limit 50"],
  },
  NotificationsNotHandled: {
    logs: ["notify"],
    lines: [
      'filter message = "notification not handled"',
      "stats count(*) as times by cluster, namespace, name, error",
      "limit 50",
    ],
  },
  HintDeadLetters: {
    logs: ["ingest"],
    lines: ['filter message = "hint not handled"', "stats count(*) as times by error", "limit 50"],
  },
  EventsRefused: {
    logs: ["ingest", "receiver"],
    lines: ["filter EventsRefused >= 1", `stats count(*) as events by why, ${byObject}`, "limit 50"],
  },
  EventsMissed: {
    logs: ["reconcile"],
    lines: ["filter EventsMissed >= 1", `stats latest(revision) as found by ${byObject}`, "limit 50"],
  },
  PushToApplied: {
    logs: ["reconcile"],
    lines: [
      "filter PushToApplied > 0",
      `fields @timestamp, PushToApplied, ${byObject}, revision`,
      "sort PushToApplied desc",
      "limit 50",
    ],
  },
  ReceiverAnswers5xx: {
    logs: ["receiver"],
    lines: [
      'filter message = "webhook not handled" or message = "webhook refused"',
      "stats count(*) as times by receiver, status, why, error",
      "limit 50",
    ],
  },
  HintsDropped: {
    logs: ["admission"],
    lines: ["filter HintsDropped >= 1", "stats count(*) as hints by cluster"],
  },
  TableThrottles: {
    logs: ["ingest", "sweep", "reconcile", "receiver"],
    lines: ["filter error like /throttles/", "stats count(*) as times by error, message", "limit 50"],
  },
} as const satisfies Readonly<Record<string, AlarmQuery>>;

export type QueryName = keyof typeof alarmQueries;

/** The query as the console and the API take it. */
export function queryText({ lines }: AlarmQuery): string {
  return lines.join("\n| ");
}

/** A log group's name may be a token; letters, digits and hyphens need no escape in the address. */
export interface ConsolePlace {
  /** `console.aws.amazon.com`, or what the partition has in its place. */
  readonly domain: string;
  readonly region: string;
}

/** The most log groups in one address: a description of an alarm has 1,024 characters. */
const maxLinkedLogs = 2;

/**
 * The address of the console with the query of the last hour, on these log groups. With more than {@link maxLinkedLogs} of them it
 * names none, and the saved query has them. The form is that of the console's own addresses, which AWS documents nowhere.
 */
export function queryUrl(query: AlarmQuery, logGroups: readonly string[], { domain, region }: ConsolePlace): string {
  const escaped = encodeURIComponent(queryText(query))
    .replaceAll(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
    .replaceAll("%", "*");
  const source = logGroups.length > maxLinkedLogs ? "" : `~source~(${logGroups.map((name) => `~'${name}`).join("")})`;
  const detail = `~(end~0~start~-3600~timeType~'RELATIVE~unit~'seconds~editorString~'${escaped}${source})`;
  return `https://${region}.${domain}/cloudwatch/home?region=${region}#logsV2:logs-insights$3FqueryDetail$3D${detail}`;
}
