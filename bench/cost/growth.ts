import { defaultBatchSize } from "../../functions/settings/reconcile-size.ts";
import type { Assumptions, Workload } from "./assumptions.ts";
import { secondsOf } from "./model.ts";

/** A limit of AWS or of ours, and how near a workload comes. */
export interface Limit {
  readonly what: string;
  readonly most: number;
  readonly unit: string;
  /** What the workload takes. */
  readonly takes: (workload: Workload, given: Assumptions) => number;
  /** Where the limit is from, and what to do. */
  readonly mend: string;
}

const runsASecond = ({ kustomizations, sources, intervalMinutes }: Workload): number =>
  (kustomizations + sources) / (intervalMinutes * 60);

/** Resources of the app's stack: for each cluster of its own account, and beside them. infra/test/cost-model.test.ts counts them. */
export const stackResources = { ofCluster: 3, beside: 99, most: 500 };
const { ofCluster, beside, most } = stackResources;

/** Limits in the order of docs/cost.md; AWS's are its defaults as of 2026-11, from memory where no source is named. */
export const limits: readonly Limit[] = [
  {
    what: "clusters of one installation document",
    most: 200,
    unit: "clusters",
    takes: ({ clusters }) => clusters,
    mend: "ours; a further installation takes the next 200",
  },
  {
    what: `resources of one CloudFormation stack, ${ofCluster} for each cluster and ${beside} beside them`,
    most,
    unit: "resources",
    takes: ({ clusters }) => beside + ofCluster * clusters,
    mend: `one stack takes ${Math.floor((most - beside) / ofCluster)} clusters without networks; give further ones a stack of their own`,
  },
  {
    what: "writes of one shard of the sweep's index",
    most: 1_000,
    unit: "units a second",
    takes: (workload) => (2 * runsASecond(workload)) / 8,
    mend: "raise the number of shards, which needs no new layout",
  },
  {
    what: "writes of the state table on demand",
    most: 40_000,
    unit: "units a second",
    takes: (workload, { units }) => units.unchanged.write * runsASecond(workload),
    mend: "a quota; AWS raises it",
  },
  {
    what: "concurrent runs that interval runs alone need",
    most: 10 * defaultBatchSize,
    unit: "runs",
    takes: (workload, given) =>
      runsASecond(workload) * secondsOf("unchanged", given.memoryGb.reconcile, given.cpuMs.unchanged, given),
    mend: "ours: maxConcurrency 10, two runs each; raise maxConcurrency or reconcile.batchSize, then the account's 1,000 executions",
  },
  {
    what: "messages in flight of one queue",
    most: 120_000,
    unit: "messages",
    takes: (workload, given) =>
      runsASecond(workload) * secondsOf("unchanged", given.memoryGb.reconcile, given.cpuMs.unchanged, given),
    mend: "far away, since delayed messages do not count; a cluster that does not answer holds none, its wake-ups are set aside",
  },
  {
    what: "custom metrics of an installation",
    most: 4,
    unit: "metrics",
    takes: (_, { metricsOfPushes }) => metricsOfPushes,
    mend: "does not grow: no metric has the cluster as a dimension",
  },
  {
    what: "seconds that a sweep of the table takes to send each cluster its message",
    most: 60,
    unit: "seconds",
    takes: ({ clusters }, { roundTripMs }) => (clusters * roundTripMs.queue) / 1_000,
    mend: "sent one by one here; ten go in one batch",
  },
];
