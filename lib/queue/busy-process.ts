import { orAborted } from "../core/concurrency.ts";
import type { Clock } from "../core/ports/clock.ts";
import { publishAfterMs, publishEveryMs } from "./cluster-rules.ts";
import type { ClusterViews } from "./cluster-views.ts";

/** How many runs of each cluster this process has, and what it tells the others about that. */
export interface BusyProcess {
  /** The runs that it has now, and those that it has last told the others of. */
  count(cluster: string): { readonly runs: number; readonly published: number };
  /** Resolves when a run has ended or the row was written, or throws the signal's reason. */
  changed(cluster: string, signal: AbortSignal): Promise<void>;
  /** Counts a run until its place is given up, which waits until a row that was written is removed. */
  begin(cluster: string): AsyncDisposable;
}

interface Busy {
  runs: number;
  /** Never begins again, so that each renewal is seen as one. */
  renewals: number;
  published: number;
  change: PromiseWithResolvers<void>;
  stop: AbortController;
  publishing: Promise<void>;
}

/**
 * Writes the process's row of a cluster as long as it has runs of it, from {@link publishAfterMs} after the first began: short runs
 * write nothing.
 *
 * @param name a random name of the process
 */
export function busyProcess(name: string, { views, clock }: { views: ClusterViews; clock: Clock }): BusyProcess {
  const byCluster = new Map<string, Busy>();
  const busyIn = (cluster: string): Busy => {
    const fresh = {
      runs: 0,
      renewals: 0,
      published: 0,
      change: Promise.withResolvers<void>(),
      stop: new AbortController(),
      publishing: Promise.resolve(),
    };
    const found = byCluster.get(cluster) ?? fresh;
    byCluster.set(cluster, found);
    return found;
  };

  const announce = (busy: Busy): void => {
    busy.change.resolve();
    busy.change = Promise.withResolvers();
  };

  const publish = async (cluster: string, busy: Busy, over: AbortSignal): Promise<void> => {
    const isStillBusy = (ms: number): Promise<boolean> =>
      clock.sleep(ms, over).then(
        () => true,
        () => false,
      );
    // A write that gives no answer may have been made.
    let mayBeWritten = false;
    for (let waitMs = publishAfterMs; await isStillBusy(waitMs); waitMs = publishEveryMs) {
      busy.renewals += 1;
      mayBeWritten = true;
      const row = { process: name, runs: busy.runs, renewals: busy.renewals };
      await views.write(cluster, (states, signal) => states.setBusy(cluster, row, signal));
      // Also where the table did not take it: then nothing is known of the others either, and runs go on.
      busy.published = row.runs;
      announce(busy);
    }
    busy.published = 0;
    if (mayBeWritten) await views.write(cluster, (states, signal) => states.removeBusy(cluster, name, signal));
  };

  return {
    count: (cluster) => busyIn(cluster),
    changed: (cluster, signal) => orAborted(busyIn(cluster).change.promise, signal),
    begin(cluster) {
      const busy = busyIn(cluster);
      busy.runs += 1;
      if (busy.runs === 1) {
        const stop = new AbortController();
        // After the row of the runs before is gone, or its removal would take the new one along.
        busy.publishing = busy.publishing.then(() => publish(cluster, busy, stop.signal));
        busy.stop = stop;
      }
      return {
        async [Symbol.asyncDispose]() {
          busy.runs -= 1;
          announce(busy);
          if (busy.runs > 0) return;
          busy.stop.abort(new Error("no run of the cluster is left in this process"));
          await busy.publishing;
        },
      };
    },
  };
}
