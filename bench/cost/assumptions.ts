import { reconcileSize } from "../../functions/settings/reconcile-size.ts";
import { declaredKinds } from "../../lib/api/kinds/declared-kinds.ts";

const mibPerGb = 1_024;
/** What a sweep of a cluster lists one after the other: the kinds that are reconciled, and ConfigMaps and Secrets with the label. */
const sweptKinds = declaredKinds.length + 2;

/** What the model reckons with besides prices. Each is a figure that was measured, a property of our design, or a guess that says so. */
export const assumptions = {
  hoursPerMonth: 730,
  daysPerMonth: 365 / 12,
  /** The functions as infra/lib/functions.ts makes them, each with its default. */
  memoryGb: { ingest: 0.5, sweep: 0.5, reconcile: defaultMemoryMiB() / mibPerGb, receiver: 1, notify: 1 },
  /** Lambda gives a core at 1,769 MB, and less memory a share of it. */
  memoryGbPerCore: 1_769 / mibPerGb,
  /**
   * Processor time of a whole core, milliseconds: docs/figures.md, "On the embedded cluster", medians. The two sweeps: 70 ms a minute
   * together, docs/figures.md, "Canaries beside Flagger"; their shares are a guess. A webhook and a notification: guesses, without the
   * start of CEL.
   */
  cpuMs: { unchanged: 12, changed: 32, pull: 32, ingest: 5, sweep: 10, clusterSweep: 60, webhook: 5, notification: 5 },
  /** A round trip, milliseconds: guesses, rather high. */
  roundTripMs: { cluster: 10, table: 5, queue: 10, store: 25, registry: 50, provider: 300 },
  /** Round trips that a run waits for one after the other, read from the flow: lists of kinds, and the status with its event, go together. */
  waits: {
    /** A Kustomization that changes nothing, at its interval: its cluster's owner, the lists, the event. */
    unchanged: { cluster: 3, table: 4, queue: 1, store: 0, registry: 0 },
    /** A source that changes nothing, at its interval. */
    source: { cluster: 4, table: 5, queue: 1, store: 1, registry: 2 },
    /** A source after a push: login, tag, manifest, one layer, the artifact stored, its consumer woken. */
    pull: { cluster: 6, table: 10, queue: 2, store: 2, registry: 4 },
    /** A Kustomization of four objects of which one has changed: the dry run, the apply, the health check. */
    changed: { cluster: 10, table: 9, queue: 1, store: 1, registry: 0 },
    ingest: { cluster: 0, table: 3, queue: 1, store: 0, registry: 0 },
    /** The table's part, of which the eight shards are asked at once. */
    sweep: { cluster: 0, table: 2, queue: 1, store: 0, registry: 0 },
    /** A cluster's part: the look at the owner, and a list of each kind; the lease, its return, the cluster's state, and summaries of each kind. */
    clusterSweep: { cluster: sweptKinds + 1, table: sweptKinds + 3, queue: 0, store: 0, registry: 0 },
    /** A delivery to a Receiver: the index by path, the token in the cluster, the request of one object and its wake-up. */
    webhook: { cluster: 1, table: 3, queue: 1, store: 0, registry: 0 },
    /** A notification: the Alert, its Provider, a Secret, and the request to the service. */
    notification: { cluster: 3, table: 0, queue: 0, store: 0, registry: 0, provider: 1 },
  },
  /** Requests to the API server of a cluster, for each run. */
  requests: {
    /** Four kinds, the event and the look at the owner: `node bench/main.ts unchangedRequests`. The hourly status is left out. */
    unchanged: { cluster: 6 },
    /** Itself, the event and the look at the owner: read from the flow. */
    source: { cluster: 3 },
    /** A list of each kind, and the look at the owner. Canaries add up to five for each namespace, for what they release. */
    clusterSweep: { cluster: sweptKinds + 1 },
    /** Read from the flow. */
    pull: { cluster: 6 },
    /** `node bench/main.ts realRequests`, one of four objects changed; and the look at the owner. */
    changed: { cluster: 13 + 1 },
    /** Its round trips. */
    notification: { cluster: 3 },
  },
  /** Of an event of the audit log: a guess. Most requests are at the level of metadata, and a patch has its body. */
  auditEventBytes: 1_500,
  /** Units of the table: `node bench/main.ts dynamodbCapacity`, which has these as limits. Half a read unit more: the cluster's state. */
  units: {
    unchanged: { read: 1 + 0.5, write: 4 },
    /** As a Kustomization, and the record of its artifact. */
    source: { read: 2 + 0.5, write: 4 },
    /** The request (1, 3), lease and end (1, 4), records of two artifacts (1, 4), its consumers (1, 0). */
    pull: { read: 4 + 0.5, write: 11 },
    changed: { read: 3.5 + 0.5, write: 12 },
    /** The listeners of the repository. */
    ingest: { read: 1, write: 0 },
    /** Eight shards of the index, half a unit each. */
    sweep: { read: 4, write: 0 },
    /**
     * A query of the summaries of each kind, a unit at least; those of 100 Kustomizations of 230 bytes are five more. The cluster's state,
     * which the table's sweep reads too. The lease of the sweep is taken and given back.
     */
    clusterSweep: { read: sweptKinds + 5 + 2 * 0.5, write: 2 },
    /** A guess: the index by path and the metadata of what is selected. The request is counted with the push. */
    webhook: { read: 2, write: 0 },
    /** The window of five minutes in which the same event is told once, written by the run that tells it. */
    notification: { read: 0, write: 1 },
  },
  /** Lambda's pollers of a queue where maxConcurrency is set, and how long each asks: AWS Lambda, "Configuring scaling behavior". */
  pollers: 5,
  pollSeconds: 20,
  /** Bytes in the log, counted on real lines: of the platform around an invocation, of a run, of a metric; 26 more for each of five. */
  logBytes: { invocation: 263 + 3 * 26, run: 327 + 26, metric: 399 + 26, push: 400 + 26 },
  logMonths: 1,
  /** Starts of a reconcile process, each of which reads the installation key and the settings. A guess: two processes, each hour. */
  coldStarts: 2 * 730,
  /** A guess: 4 KB for each unit with its history, a tenth of it in backups beside the table. */
  tableGbPerUnit: 4_096 / 1_000_000_000,
  /** A guess: artifacts are never deleted (docs/maintainers/state-table.md); a month of them at 20 KB, a year old. */
  artifactGb: 20_000 / 1_000_000_000,
  artifactMonths: 12,
  /** With pushes in every hour: durations of two kinds, applied objects, and from push to applied. At rest nothing is written. */
  metricsOfPushes: 4,
  emailsPerMonth: 10,
} as const;

function defaultMemoryMiB(): number {
  const size = reconcileSize({});
  if ("faults" in size) throw new Error(size.faults.join("; "));
  return size.memoryMiB;
}

export type Assumptions = typeof assumptions;
export type RunName = keyof Assumptions["waits"];

/** An installation to be priced. */
export interface Workload {
  readonly clusters: number;
  readonly networks: number;
  readonly kustomizations: number;
  readonly sources: number;
  readonly intervalMinutes: number;
  readonly pushesPerDay: number;
  /** To Receivers; what they start is counted as pushes. */
  readonly deliveriesPerDay: number;
  /** To Providers, from runs that are counted elsewhere. */
  readonly notificationsPerDay: number;
  /** One for each network where there are notifications. */
  readonly notificationQueues: number;
  /** Of the admission webhook: one where there is one. */
  readonly admissionSecrets: number;
  /** Default for SluiceObservability: alarms, an own topic; no dashboard. */
  readonly dashboards: number;
  readonly ownKeys: number;
  /** Alarms bill their metrics. */
  readonly alarms: number;
  /** The share of the clusters whose audit log goes to CloudWatch, 0 to 1. Off in a new cluster of EKS. */
  readonly auditLogs: number;
  /** The share of the clusters that GuardDuty's EKS Protection reads the audit log of, 0 to 1. */
  readonly guardDuty: number;
}
