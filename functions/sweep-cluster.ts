import { randomUUID } from "node:crypto";
import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import { ApiError, type PartialObject } from "../lib/core/ports/cluster.ts";
import type { HomeCluster } from "../lib/core/ports/home-and-target.ts";
import type { Log } from "../lib/core/ports/log.ts";
import { type Metrics, notReadyMs } from "../lib/core/ports/metrics.ts";
import type { SweepLeases } from "../lib/core/ports/sweep-leases.ts";
import { closedReason, type WriteGate } from "../lib/core/ports/write-gate.ts";
import type { ClusterLimits } from "../lib/queue/cluster-limits.ts";
import { type MarkedResource, type ObserveDeps, observeAll } from "../lib/queue/observe-resource.ts";
import { type ObservedKind, observedKey } from "../lib/queue/observed-kinds.ts";
import { answerWithin } from "./cluster-answer.ts";
import { countObjects } from "./tell-objects.ts";

export interface ClusterSweepDeps extends ObserveDeps {
  readonly clusters: { get(id: string): SweptCluster | undefined };
  readonly kinds: readonly ObservedKind[];
  readonly limits: Pick<ClusterLimits, "probe">;
  readonly sweepLeases: SweepLeases;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a sweep needs of a cluster. */
interface SweptCluster {
  /** While it is closed nothing is adopted: no run would begin. */
  readonly gate: Pick<WriteGate, "enter">;
  readonly home: Pick<HomeCluster, "listMetadata">;
}

/** Shorter than the minute between two sweeps: after a crash the next one goes on. */
const leaseMs = 30_000;
const renewEveryMs = 10_000;
/** For the gate, and for each list: a cluster that does not answer is left to the next minute. */
const answerWithinMs = 20_000;
/** In more namespaces than this, objects beside others are listed at once, with those of all other namespaces. */
const maxListedNamespaces = 4;

/** Sweeps a cluster that a message names. Throws only for bugs. */
export type SweepCluster = (cluster: string, signal: AbortSignal) => Promise<void>;

/**
 * Compares the custom resources of a cluster with what was seen of them before, and asks for the runs that events have missed. What
 * fails is logged and left to the sweep of the next minute, as is a cluster that another process is still sweeping.
 */
export function clusterSweep(deps: ClusterSweepDeps): SweepCluster {
  const { clusters, log } = deps;
  return async (id, signal) => {
    const cluster = clusters.get(id);
    if (cluster === undefined) {
      log.debug("sweep of a cluster that is not looked after here", { cluster: id });
      return;
    }
    try {
      const adopted = await underLease(id, deps, signal, (stop) => probe(id, cluster, deps, stop));
      if (adopted > 0) log.info("sweep found new or changed objects", { cluster: id, adopted });
    } catch (error) {
      log.warn("sweep of a cluster not finished", { cluster: id, error: messageOf(error) });
    }
  };
}

/** Answers 0 if another process sweeps the cluster. */
async function underLease(
  id: string,
  { sweepLeases, clock, log }: ClusterSweepDeps,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const holder = randomUUID();
  if (!(await sweepLeases.take(id, holder, leaseMs, signal))) {
    log.debug("the cluster is still being swept", { cluster: id });
    return 0;
  }
  const over = new AbortController();
  const lost = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const renew = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(renewEveryMs, stop);
      if (!(await sweepLeases.take(id, holder, leaseMs, stop))) throw new Error("another process sweeps the cluster");
    }
  };
  const renewing = renew().catch((error: unknown) => lost.abort(error));
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    over.abort(new Error("the sweep is over"));
    await renewing;
    // The next sweep may begin. Another holder's lease stays, and one that is not given back ends by itself.
    await sweepLeases
      .take(id, holder, 0, signal)
      .catch((error: unknown) => log.debug("lease of a sweep not given back", { error: messageOf(error) }));
  }
}

/** The sweep also shows whether the cluster answers, and whether its gate is open: while not, its runs wait. */
async function probe(id: string, cluster: SweptCluster, deps: ClusterSweepDeps, signal: AbortSignal): Promise<number> {
  let adopted = 0;
  const sweep = async (stop: AbortSignal): Promise<string | undefined> => {
    const refused = await answerWithin(answerWithinMs, (within) => closedReason(cluster.gate, within), deps, stop);
    if (refused === undefined) adopted = await adopt(id, cluster, deps, stop);
    return refused;
  };
  await deps.limits.probe(id, sweep, signal);
  return adopted;
}

/** Answers for how many objects a run was requested, and counts those that need a person. */
async function adopt(id: string, { home }: SweptCluster, deps: ClusterSweepDeps, signal: AbortSignal): Promise<number> {
  let adopted = 0;
  const marked: MarkedResource[] = [];
  const namespaces = new Map<string, ReadonlySet<string>>();
  for (const kind of deps.kinds) {
    const near = kind.beside && (namespaces.get(kindText(kind.beside)) ?? new Set());
    // The summaries stay as they are: an old one costs a run, once there are such objects again.
    if (near?.size === 0) continue;
    const list = (stop: AbortSignal) => listed(kind, near, id, home, deps, stop);
    const objects = await answerWithin(answerWithinMs, list, deps, signal);
    if (objects === undefined) continue;
    namespaces.set(kindText(kind), new Set(objects.map(({ metadata }) => metadata.namespace ?? "")));
    const present = objects.map(({ metadata }) => ({ key: observedKey(kind, id, metadata), metadata }));
    const of = observedKey(kind, id, { name: "" });
    const { asked, notReady } = await observeAll(of, present, { ...deps, ...kind.observe }, signal);
    adopted += asked;
    marked.push(...notReady);
  }
  countNotReady(id, marked, deps);
  return adopted;
}

function kindText({ group, kind }: Pick<ObservedKind, "group" | "kind">): string {
  return `${group}/${kind}`;
}

/** In each sweep, so that the alarm stays for as long as one of them does; an object that is Stalled is not run again. */
function countNotReady(cluster: string, marked: readonly MarkedResource[], { clock, metrics }: ClusterSweepDeps): void {
  const long = marked.filter(({ since, outcome }) => outcome === "stalled" || clock.now() - since > notReadyMs);
  const objects = long.map(({ key, since, outcome }) => ({
    key,
    properties: { outcome, since: new Date(since).toISOString() },
  }));
  const rest = { cluster, group: "", kind: "Cluster", namespace: "", name: "" };
  countObjects(metrics, "ObjectsNotReady", objects, rest);
}

/** Undefined where we may not list objects of others, or their kind is not served, which costs Sluice's own kinds nothing. */
async function listed(
  kind: ObservedKind,
  near: ReadonlySet<string> | undefined,
  cluster: string,
  home: SweptCluster["home"],
  { log }: ClusterSweepDeps,
  signal: AbortSignal,
): Promise<readonly PartialObject[] | undefined> {
  try {
    if (near === undefined) return await home.listMetadata(kind, signal);
    return await listedIn(near, kind, home, signal);
  } catch (error) {
    const isOthers = kind.observe !== undefined && error instanceof ApiError;
    if (!isOthers || (error.reason !== "Forbidden" && error.reason !== "NoMatch")) throw error;
    log.warn("objects not swept, their changes wait for the next interval", { cluster, error: error.message });
    return undefined;
  }
}

async function listedIn(
  namespaces: ReadonlySet<string>,
  kind: ObservedKind,
  home: SweptCluster["home"],
  signal: AbortSignal,
): Promise<readonly PartialObject[]> {
  if (namespaces.size > maxListedNamespaces) {
    const all = await home.listMetadata(kind, signal);
    return all.filter(({ metadata }) => namespaces.has(metadata.namespace ?? ""));
  }
  const found: PartialObject[] = [];
  for (const namespace of namespaces) found.push(...(await home.listMetadata({ ...kind, namespace }, signal)));
  return found;
}
