import { mapLimit } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import { type ClusterHold, maxHoldReasonChars } from "../core/ports/cluster-states.ts";
import type { Log } from "../core/ports/log.ts";
import type { Metrics } from "../core/ports/metrics.ts";
import type { Flow } from "../core/ports/run.ts";
import { busyProcess } from "./busy-process.ts";
import { instant } from "./change-item.ts";
import {
  type ClusterView,
  deadProcesses,
  fullDelayMs,
  holdIn,
  mayBegin,
  runsElsewhere,
  unreachableRuns,
  wakeBudget,
} from "./cluster-rules.ts";
import type { ClusterViews } from "./cluster-views.ts";
import type { Instant } from "./rules.ts";
import type { WakeBudget } from "./sweep.ts";

export interface ClusterLimitsDeps {
  readonly views: ClusterViews;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** A random name of this process. */
  readonly process: string;
  /** Runs of a cluster at the same time, in all processes. */
  maxRuns(cluster: string): number;
  /** One cheap read from the cluster. Throws an {@link ApiError} `Unreachable` if no answer comes. */
  ask(cluster: string, signal: AbortSignal): Promise<unknown>;
  /** From 0 to 1. */
  random(): number;
}

/** Whether a run of a cluster may begin now. */
export type Admission =
  /** The cluster does not answer: its wake-up is set aside. */
  | { readonly kind: "held" }
  /** It has as many runs as it may have: its wake-up comes again after so many milliseconds. */
  | { readonly kind: "full"; readonly delayMs: number }
  | { readonly kind: "admitted"; readonly place: ClusterPlace };

/** The place of one wake-up among the runs of its cluster, held until it has been handled. */
export interface ClusterPlace extends AsyncDisposable {
  /** The flow, whose end says whether the cluster answers. */
  watch(flow: Flow): Flow;
}

/**
 * The breaker and the cap of each cluster, for one process: see docs/maintainers/adr/0027-one-cluster-does-not-stall-another.md. Both are hints
 * in the state table. Where that is away, runs go on.
 */
export interface ClusterLimits {
  /** Asked for each wake-up before anything of its object is read. */
  enter(cluster: string, signal: AbortSignal): Promise<Admission>;
  /** Whether the cluster is not known to give no answer. */
  answers(cluster: string, signal: AbortSignal): Promise<boolean>;
  /** What the gate said at a wake-up: why it is closed, or undefined. Tells the sweep, which cannot ask the gate. */
  gateSaid(cluster: string, refused: string | undefined): Promise<void>;
  /**
   * Does the sweep of a cluster, which is the probe: it answers why its gate is closed, or undefined. What it throws is thrown on.
   */
  probe(
    cluster: string,
    sweepCluster: (signal: AbortSignal) => Promise<string | undefined>,
    signal: AbortSignal,
  ): Promise<void>;
  /** How many overdue items of each of these clusters a sweep of the table may wake; none of any other. */
  budgets(clusters: readonly string[], signal: AbortSignal): Promise<(cluster: string) => WakeBudget>;
}

/**
 * The sweep in a row that gets no answer from which on `ClusterUnreachable` is counted: a metric has no dimension for the cluster, so
 * single misses of three clusters would look like three of one.
 *
 * @internal Exported for its tests.
 */
export const toldMissedSweeps = 3;

/** How many clusters are read at the same time. */
const concurrency = 16;

export function clusterLimits(deps: ClusterLimitsDeps): ClusterLimits {
  const { views, clock, log, metrics } = deps;
  const busy = busyProcess(deps.process, { views, clock });
  /** Runs in a row that ended without an answer. */
  const unanswered = new Map<string, number>();
  const asking = new Map<string, Promise<void>>();
  /** Sweeps in a row that got no answer from a cluster without a hold: it answers only a small read. */
  const unswept = new Map<string, number>();

  const hold = async (
    cluster: string,
    kind: ClusterHold["kind"],
    why: string,
    before: ClusterHold | undefined,
    missedSweeps = before?.kind === kind ? before.missedSweeps : undefined,
  ): Promise<void> => {
    const reason = why.slice(0, maxHoldReasonChars);
    const isSame = before?.kind === kind;
    const since = isSame ? before.since : clock.now();
    const missed = missedSweeps === undefined ? {} : { missedSweeps };
    const next: ClusterHold = { kind, reason, since, probes: (before?.probes ?? 0) + 1, ...missed };
    const isWritten = await views.write(
      cluster,
      (states, signal) => states.hold(cluster, next, signal),
      (state) => ({ ...state, hold: next }),
    );
    if (isWritten) unswept.delete(cluster);
    if (!isWritten || isSame) return;
    if (kind === "unreachable") log.warn("cluster does not answer, its runs wait", { cluster, reason });
    else log.info("cluster may not be written to, its runs wait", { cluster, reason });
  };

  const release = async (cluster: string, { kind, since }: ClusterHold): Promise<void> => {
    const isWritten = await views.write(
      cluster,
      (states, signal) => states.release(cluster, signal),
      ({ busy: rows }) => ({ hold: undefined, busy: rows }),
    );
    if (!isWritten) return;
    const message = kind === "unreachable" ? "cluster answers again" : "cluster may be written to again";
    log.info(`${message}, what waited is woken`, { cluster, since: new Date(since).toISOString() });
  };

  /** Asks the cluster itself, once for all who suspect it: what does not answer may be a registry, the table or another cluster. */
  const ask = (cluster: string, signal: AbortSignal, missedSweeps?: number): Promise<void> => {
    const asked = async (): Promise<void> => {
      try {
        await deps.ask(cluster, signal);
        unanswered.delete(cluster);
      } catch (error) {
        if (signal.aborted) return;
        unanswered.delete(cluster);
        if (!isNoAnswer(error)) return;
        const view = await views.look(cluster, signal, true);
        await hold(cluster, "unreachable", messageOf(error), view.state.hold, missedSweeps);
      }
    };
    const pending = asking.get(cluster) ?? asked().finally(() => asking.delete(cluster));
    asking.set(cluster, pending);
    return pending;
  };

  const missSweep = async (
    cluster: string,
    why: string,
    before: ClusterHold | undefined,
    signal: AbortSignal,
  ): Promise<void> => {
    const isHeld = before?.kind === "unreachable";
    const missed = ((isHeld ? before.missedSweeps : unswept.get(cluster)) ?? 0) + 1;
    if (missed >= toldMissedSweeps) metrics.record(metricsKey(cluster), { ClusterUnreachable: 1 });
    if (isHeld) return hold(cluster, "unreachable", why, before, missed);
    unswept.set(cluster, missed);
    return ask(cluster, signal, missed);
  };

  /** The first to see a dead process frees its share for all others, also for those that look for the first time. */
  const removeDead = async (cluster: string, view: ClusterView, now: Instant): Promise<void> => {
    for (const { process } of deadProcesses(view, now)) {
      await views.write(
        cluster,
        (states, signal) => states.removeBusy(cluster, process, signal),
        (state) => ({ ...state, busy: state.busy.filter((busy) => busy.process !== process) }),
      );
    }
  };

  return {
    async enter(cluster, signal) {
      const maxRuns = deps.maxRuns(cluster);
      for (;;) {
        const view = await views.look(cluster, signal);
        const now = instant({ clock });
        if (holdIn(view, now)?.kind === "unreachable") return { kind: "held" };
        await removeDead(cluster, view, now);
        const answer = mayBegin(busy.count(cluster), runsElsewhere(view, deps.process, now), maxRuns);
        if (answer === "now") break;
        if (answer === "full") {
          const { least, most } = fullDelayMs;
          return { kind: "full", delayMs: least + Math.floor(deps.random() * (most - least)) };
        }
        // A few seconds at most, until the others are told, and less where runs are short.
        await busy.changed(cluster, signal);
      }
      const place = busy.begin(cluster);
      return {
        kind: "admitted",
        place: {
          watch: (flow) => async (run) => {
            const result = await flow(run);
            if (result.outcome === "unreachable") unanswered.set(cluster, (unanswered.get(cluster) ?? 0) + 1);
            else unanswered.delete(cluster);
            return result;
          },
          async [Symbol.asyncDispose]() {
            if ((unanswered.get(cluster) ?? 0) >= unreachableRuns) await ask(cluster, signal);
            await place[Symbol.asyncDispose]();
          },
        },
      };
    },
    async answers(cluster, signal) {
      return holdIn(await views.look(cluster, signal), instant({ clock }))?.kind !== "unreachable";
    },
    async gateSaid(cluster, refused) {
      const { signal } = new AbortController();
      const { state } = await views.look(cluster, signal);
      if (refused === undefined) {
        if (state.hold?.kind === "refused") await release(cluster, state.hold);
      } else if (state.hold?.kind !== "refused") await hold(cluster, "refused", refused, state.hold);
    },
    async probe(cluster, sweepCluster, signal) {
      const { state } = await views.look(cluster, signal, true);
      let refused: string | undefined;
      try {
        refused = await sweepCluster(signal);
      } catch (error) {
        if (isNoAnswer(error)) await missSweep(cluster, messageOf(error), state.hold, signal);
        else if (error instanceof ApiError && state.hold?.kind === "unreachable") await release(cluster, state.hold);
        throw error;
      }
      unswept.delete(cluster);
      if (refused !== undefined) await hold(cluster, "refused", refused, state.hold);
      else if (state.hold !== undefined) await release(cluster, state.hold);
    },
    async budgets(clusters, signal) {
      const budgets = await mapLimit(
        clusters,
        concurrency,
        async (cluster, stop): Promise<[string, WakeBudget]> => {
          const view = await views.look(cluster, stop);
          return [cluster, wakeBudget(view, deps.maxRuns(cluster), instant({ clock }))];
        },
        signal,
      );
      const byCluster = new Map(budgets);
      return (cluster) => byCluster.get(cluster) ?? { atMost: 0, perSecond: 1 };
    },
  };
}

/** A metric of a cluster and of no object in it. */
function metricsKey(cluster: string) {
  return { cluster, group: "", kind: "Cluster", namespace: "", name: "" };
}

/** Whether the API server gave no answer; an error that it answers with is one. */
function isNoAnswer(error: unknown): boolean {
  if (error instanceof ApiError) return error.reason === "Unreachable";
  return error instanceof Error && error.cause !== undefined && isNoAnswer(error.cause);
}
