import { resolve } from "node:path";
import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { ClusterEntry } from "./open-cluster.ts";

/** How often a cluster that cannot be used is tried again, in milliseconds. */
export const retryMs = 10_000;
/** How long the start waits for the other clusters once one of them is served, in milliseconds. */
const othersWaitMs = 5_000;

export interface JoinOptions<Opened extends { readonly id: string }> {
  /** One at least. */
  readonly entries: readonly ClusterEntry[];
  /** Opens a cluster; calls `onId` with its id first, which may throw. */
  readonly open: (entry: ClusterEntry, onId: (id: string) => void, signal: AbortSignal) => Promise<Opened>;
  /** Begins to work on an open cluster. */
  readonly serve: (cluster: Opened) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The state of an entry. */
export interface JoinedCluster {
  readonly name: string;
  /** Absolute. */
  readonly kubeconfig: string;
  readonly context?: string;
  /** Undefined until the cluster is served. */
  readonly id?: string;
  /** Why the cluster is not served yet. */
  readonly fault?: string;
}

export interface Joining {
  /**
   * Resolves once each cluster is served or has failed once, or 5 s after the first is served: none waits longer for another. Rejects
   * if two entries lead to one cluster, and if no cluster can be used.
   */
  readonly begun: Promise<unknown>;
  readonly clusters: () => readonly JoinedCluster[];
  /** The entry of the cluster with this id, if that is known. */
  readonly nameOf: (id: string) => string | undefined;
  stop(): Promise<void>;
}

/** Two entries that would have one cluster reconciled twice. */
class SameCluster extends Error {
  override readonly name = "SameCluster";
}

/**
 * Opens clusters and hands each over as soon as it is open. An unusable cluster does not delay the others: it is tried again every 10
 * s, unless it is the only one.
 */
export function joinClusters<Opened extends { readonly id: string }>(
  { entries, open, serve, clock, log }: JoinOptions<Opened>,
  signal: AbortSignal,
): Joining {
  const stopped = new AbortController();
  const ends = AbortSignal.any([signal, stopped.signal]);
  const isEnding = (): boolean => ends.aborted;
  const isMany = entries.length > 1;
  const ids = new Map<ClusterEntry, string>();
  const served = new Set<ClusterEntry>();
  const faults = new Map<ClusterEntry, string>();

  const claim = (entry: ClusterEntry, id: string): void => {
    const [other] = [...ids].find(([each, known]) => each !== entry && known === id) ?? [];
    if (other !== undefined) {
      throw new SameCluster(`${other.name} and ${entry.name} lead to the same cluster (${id}): name it once`);
    }
    ids.set(entry, id);
  };
  /** Answers why the cluster is not served; undefined if it is. */
  const attempt = async (entry: ClusterEntry): Promise<Error | undefined> => {
    try {
      const cluster = await open(entry, (id) => claim(entry, id), ends);
      await serve(cluster);
      served.add(entry);
      if (isMany) log.info("cluster served", { cluster: entry.name, id: cluster.id });
      return undefined;
    } catch (error) {
      const fault = messageOf(error);
      const isNew = faults.get(entry) !== fault;
      faults.set(entry, fault);
      if (isMany && isNew && !isEnding()) {
        log.warn("cluster not served, trying again", { cluster: entry.name, retryMs, error: fault });
      }
      return error instanceof Error ? error : new Error(fault);
    }
  };
  const first = entries.map(attempt);
  const tryAgain = async (entry: ClusterEntry, index: number): Promise<void> => {
    await first[index];
    while (isMany && !served.has(entry) && !isEnding()) {
      // A stop ends the sleep.
      await clock.sleep(retryMs, ends).catch(() => undefined);
      if (!isEnding()) await attempt(entry);
    }
  };
  const loops = entries.map(tryAgain);
  return {
    begun: begin(
      first,
      (only) => (isMany ? noneServed(entries, faults) : only),
      () => clock.sleep(othersWaitMs, ends),
    ),
    clusters: () => entries.map((entry) => stateOf(entry, served.has(entry) ? ids.get(entry) : undefined, faults)),
    nameOf: (id) => entries.find((entry) => ids.get(entry) === id)?.name,
    async stop() {
      stopped.abort(new Error("the process ends"));
      await Promise.all(loops);
    },
  };
}

/**
 * See {@link Joining.begun}.
 *
 * @param first why each cluster is not served; undefined for one that is
 */
function begin(
  first: readonly Promise<Error | undefined>[],
  noneServed: (first: Error) => Error,
  waitForOthers: () => Promise<void>,
): Promise<unknown> {
  const allTried = Promise.all(
    first.map(async (tried) => {
      const fault = await tried;
      if (fault instanceof SameCluster) throw fault;
      return fault;
    }),
  ).then((faults) => {
    const [fault] = faults;
    if (fault !== undefined && !faults.includes(undefined)) throw noneServed(fault);
  });
  const oneServed = Promise.any(
    first.map(async (tried) => {
      const fault = await tried;
      if (fault !== undefined) throw fault;
    }),
  );
  const begun = Promise.race([allTried, oneServed.then(waitForOthers, () => allTried)]);
  begun.catch(() => undefined);
  return begun;
}

function stateOf(
  entry: ClusterEntry,
  id: string | undefined,
  faults: ReadonlyMap<ClusterEntry, string>,
): JoinedCluster {
  const { name, file, context } = entry;
  const place = { name, kubeconfig: resolve(file), ...(context === undefined ? {} : { context }) };
  return id === undefined ? { ...place, fault: faults.get(entry) ?? "it has not answered yet" } : { ...place, id };
}

function noneServed(entries: readonly ClusterEntry[], faults: ReadonlyMap<ClusterEntry, string>): Error {
  const each = entries.map((entry) => `${entry.name}: ${faults.get(entry) ?? "not tried"}`);
  return new Error(`none of the ${entries.length} clusters can be used: ${each.join("; ")}`);
}
