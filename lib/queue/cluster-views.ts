import { orAborted } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { ClusterState, ClusterStates } from "../core/ports/cluster-states.ts";
import type { Log } from "../core/ports/log.ts";
import { instant } from "./change-item.ts";
import { type ClusterView, elapsedMs, emptyView, viewAfter } from "./cluster-rules.ts";
import type { Instant } from "./rules.ts";

/** How long a look at a cluster's rows counts: so many milliseconds a process may act on what was true before. */
export const lookCountsMs = 5_000;
/** A table that takes longer to answer is away. */
const maxCallMs = 2_000;

export interface ClusterViewDeps {
  readonly states: ClusterStates;
  readonly clock: Clock;
  readonly log: Log;
}

/** What this process knows of clusters: one query for each every {@link lookCountsMs} at most, shared by all who ask. */
export interface ClusterViews {
  /**
   * Never throws but the signal's reason: where the table does not answer, nothing is known, and runs go on.
   *
   * @param isFresh true: looks now, whatever is known
   */
  look(cluster: string, signal: AbortSignal, isFresh?: boolean): Promise<ClusterView>;
  /**
   * Writes to the cluster's rows. Answers whether the table took it.
   *
   * @param after what is known then, also where the next read may miss it; absent: the next to ask looks
   */
  write(
    cluster: string,
    send: (states: ClusterStates, signal: AbortSignal) => Promise<void>,
    after?: (state: ClusterState) => ClusterState,
  ): Promise<boolean>;
}

interface Known {
  view: ClusterView;
  at: Instant | undefined;
  looking: Promise<void> | undefined;
}

export function clusterViews({ states, clock, log }: ClusterViewDeps): ClusterViews {
  const known = new Map<string, Known>();
  const knownOf = (cluster: string): Known => {
    const found = known.get(cluster) ?? { view: emptyView, at: undefined, looking: undefined };
    known.set(cluster, found);
    return found;
  };

  /** No caller's signal ends a call, since others wait for it. */
  const limited = async <Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    const [tooLong, over] = [new AbortController(), new AbortController()];
    const limit = clock.sleep(maxCallMs, over.signal).then(
      () => tooLong.abort(new Error(`no answer within ${maxCallMs} ms`)),
      () => undefined,
    );
    try {
      return await orAborted(call(tooLong.signal), tooLong.signal);
    } finally {
      over.abort(new Error("the call has ended"));
      await limit;
    }
  };

  const look = async (cluster: string): Promise<void> => {
    const of = knownOf(cluster);
    const at = instant({ clock });
    try {
      const state = await limited((signal) => states.read(cluster, signal));
      of.view = viewAfter(of.view, state, at);
    } catch (error) {
      log.warn("what holds a cluster up is not known, its runs go on", { cluster, error: messageOf(error) });
      of.view = { ...of.view, state: emptyView.state };
    }
    of.at = at;
  };

  return {
    async look(cluster, signal, isFresh = false) {
      const of = knownOf(cluster);
      const isKnown = of.at !== undefined && elapsedMs(of.at, instant({ clock })) < lookCountsMs;
      if (isFresh || !isKnown) {
        of.looking ??= look(cluster).finally(() => {
          of.looking = undefined;
        });
        await orAborted(of.looking, signal);
      }
      return of.view;
    },
    async write(cluster, send, after) {
      const of = knownOf(cluster);
      try {
        await limited((signal) => send(states, signal));
        if (after !== undefined) of.view = viewAfter(of.view, after(of.view.state), instant({ clock }));
        else of.at = undefined;
        return true;
      } catch (error) {
        log.warn("what holds a cluster up is not written", { cluster, error: messageOf(error) });
        return false;
      }
    },
  };
}
