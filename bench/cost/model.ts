import type { Assumptions, RunName, Workload } from "./assumptions.ts";
import type { PriceName, Prices } from "./prices.ts";

/** One line of the bill of a month. */
export interface Line {
  readonly what: string;
  readonly price: PriceName;
  readonly quantity: number;
}

export interface PricedLine extends Line {
  readonly usd: number;
}

/** How long a run takes, in seconds: its share of a core, and the round trips that it waits for. */
export function secondsOf(run: RunName, gb: number, cpuMs: number, given: Assumptions): number {
  const core = Math.min(1, gb / given.memoryGbPerCore);
  const waits = Object.entries(given.waits[run]).map(([to, count]) => count * roundTrip(to, given));
  return (cpuMs / core + waits.reduce((sum, ms) => sum + ms, 0)) / 1_000;
}

function roundTrip(to: string, { roundTripMs }: Assumptions): number {
  const found = Object.entries(roundTripMs).find(([name]) => name === to);
  if (found === undefined) throw new Error(`no round trip to "${to}"`);
  return found[1];
}

/**
 * Requests to receive of one queue in a month: each poller asks until a message comes or its time is over. Messages come
 * independently of each other, so a question takes (1 - e^(-rate * time)) / rate on average.
 */
export function receives(messages: number, { pollers, pollSeconds, hoursPerMonth }: Assumptions): number {
  const seconds = hoursPerMonth * 3_600;
  const rate = messages / seconds / pollers;
  const mean = rate === 0 ? pollSeconds : (1 - Math.exp(-rate * pollSeconds)) / rate;
  return (pollers * seconds) / mean;
}

/** How often what happens in a month. */
function countsOf(workload: Workload, { hoursPerMonth, daysPerMonth }: Assumptions) {
  const minutes = hoursPerMonth * 60;
  const perUnit = minutes / workload.intervalMinutes;
  const pushes = workload.pushesPerDay * daysPerMonth;
  return {
    unchanged: workload.kustomizations * perUnit,
    source: workload.sources * perUnit,
    sweep: minutes,
    clusterSweep: minutes * workload.clusters,
    ingest: pushes,
    pull: pushes,
    changed: pushes,
    webhook: workload.deliveriesPerDay * daysPerMonth,
    notification: workload.notificationsPerDay * daysPerMonth,
  } satisfies Record<RunName, number>;
}

/** Requests to the API servers in a month: each is an event of the audit log of its cluster. */
export function clusterRequests(workload: Workload, given: Assumptions): number {
  const counts = countsOf(workload, given);
  const { unchanged, source, clusterSweep, pull, changed, notification } = given.requests;
  return (
    counts.unchanged * unchanged.cluster +
    counts.source * source.cluster +
    counts.clusterSweep * clusterSweep.cluster +
    counts.pull * pull.cluster +
    counts.changed * changed.cluster +
    counts.notification * notification.cluster
  );
}

/** The bill of a month, without prices. */
export function linesOf(workload: Workload, given: Assumptions): readonly Line[] {
  const counts = countsOf(workload, given);
  const { memoryGb, cpuMs, units, logBytes } = given;
  const total = (of: (run: RunName) => number): number => runNames.reduce((sum, run) => sum + counts[run] * of(run), 0);
  const gb = (run: RunName): number => memoryGb[functionOf[run]];
  const gbSeconds = (runs: readonly RunName[]): number =>
    runs.reduce((sum, run) => sum + counts[run] * gb(run) * secondsOf(run, gb(run), cpuMs[cpuOf[run]], given), 0);
  const interval = counts.unchanged + counts.source;
  const pushes = counts.ingest;
  const wakeUps = interval + counts.clusterSweep + counts.pull + counts.changed;
  const metricLines = pushes * given.metricsOfPushes;
  const logged =
    total(() => logBytes.invocation) +
    (interval + 2 * pushes) * logBytes.run +
    metricLines * logBytes.metric +
    pushes * logBytes.push;
  const logGb = logged / 1_000_000_000;
  const auditEvents = clusterRequests(workload, given);
  const stored = (workload.kustomizations + workload.sources) * given.tableGbPerUnit;
  const { notificationQueues: queues } = workload;
  const received = (messages: number): number => receives(messages, given);
  return [
    { what: "Table, writes of runs and sweeps", price: "tableWriteUnit", quantity: total((run) => units[run].write) },
    { what: "Table, reads of runs and sweeps", price: "tableReadUnit", quantity: total((run) => units[run].read) },
    { what: "Table, storage", price: "tableGbMonth", quantity: stored },
    { what: "Table, point-in-time recovery", price: "tableBackupGbMonth", quantity: stored },
    { what: "Lambda, interval runs", price: "lambdaGbSecond", quantity: gbSeconds(["unchanged", "source"]) },
    { what: "Lambda, sweeps", price: "lambdaGbSecond", quantity: gbSeconds(["sweep", "clusterSweep"]) },
    { what: "Lambda, pushes", price: "lambdaGbSecond", quantity: gbSeconds(["ingest", "pull", "changed"]) },
    { what: "Lambda, webhooks", price: "lambdaGbSecond", quantity: gbSeconds(["webhook"]) },
    { what: "Lambda, notifications", price: "lambdaGbSecond", quantity: gbSeconds(["notification"]) },
    { what: "Lambda, invocations", price: "lambdaRequest", quantity: total(() => 1) },
    { what: "Queues, sent and deleted wake-ups and hints", price: "queueRequest", quantity: 2 * (wakeUps + pushes) },
    {
      what: "Queues, polling of the wake-ups",
      price: "queueRequest",
      quantity: workload.networks * received(wakeUps / workload.networks),
    },
    { what: "Queues, polling of the hints", price: "queueRequest", quantity: received(pushes) },
    {
      what: "Queues, polling of the notifications",
      price: "fifoRequest",
      quantity: queues === 0 ? 0 : queues * received(counts.notification / queues),
    },
    { what: "Queues, sent and deleted notifications", price: "fifoRequest", quantity: 2 * counts.notification },
    {
      what: "Queues, groups of messages",
      price: "queueGroupRequest",
      quantity: 3 * wakeUps,
    },
    { what: "Logs, taken in", price: "logGb", quantity: logGb },
    { what: "Logs, kept", price: "logGbMonth", quantity: logGb * given.logMonths },
    { what: "Custom metrics", price: "metricMonth", quantity: pushes > 0 ? given.metricsOfPushes : 0 },
    { what: "Alarms", price: "alarmMonth", quantity: workload.alarms },
    { what: "Dashboard", price: "dashboardMonth", quantity: workload.dashboards },
    { what: "Installation key", price: "secretMonth", quantity: 1 },
    { what: "Secret of the admission webhook", price: "secretMonth", quantity: workload.admissionSecrets },
    { what: "Reads of the installation key", price: "secretRequest", quantity: given.coldStarts },
    { what: "Own KMS keys", price: "keyMonth", quantity: workload.ownKeys },
    { what: "Artifacts, stored", price: "storeGbMonth", quantity: pushes * given.artifactGb * given.artifactMonths },
    { what: "Artifacts, written", price: "storeWrite", quantity: counts.pull },
    {
      what: "Artifacts and settings, read",
      price: "storeRead",
      quantity: counts.source + counts.pull + counts.changed + given.coldStarts,
    },
    {
      what: "Audit log of the clusters",
      price: "logGb",
      quantity: (auditEvents * workload.auditLogs * given.auditEventBytes) / 1e9,
    },
    { what: "GuardDuty, EKS Protection", price: "guardDutyEvent", quantity: auditEvents * workload.guardDuty },
    { what: "Emails of alarms", price: "email", quantity: given.emailsPerMonth },
  ];
}

/** With prices, the dearest first. */
export function priced(lines: readonly Line[], prices: Prices): readonly PricedLine[] {
  return lines
    .map((line) => ({ ...line, usd: line.quantity * prices[line.price].usd }))
    .toSorted((a, b) => b.usd - a.usd);
}

export function totalOf(lines: readonly PricedLine[]): number {
  return lines.reduce((sum, { usd }) => sum + usd, 0);
}

const functionOf = {
  unchanged: "reconcile",
  source: "reconcile",
  pull: "reconcile",
  changed: "reconcile",
  clusterSweep: "reconcile",
  ingest: "ingest",
  sweep: "sweep",
  webhook: "receiver",
  notification: "notify",
} as const satisfies Record<RunName, string>;

const cpuOf = {
  unchanged: "unchanged",
  source: "unchanged",
  pull: "pull",
  changed: "changed",
  clusterSweep: "clusterSweep",
  ingest: "ingest",
  sweep: "sweep",
  webhook: "webhook",
  notification: "notification",
} as const satisfies Record<RunName, string>;

const runNames = [
  "unchanged",
  "source",
  "sweep",
  "clusterSweep",
  "ingest",
  "pull",
  "changed",
  "webhook",
  "notification",
] as const;
