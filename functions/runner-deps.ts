import { randomUUID } from "node:crypto";
import type { HomeCluster } from "../lib/core/ports/home-and-target.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import type { DeadLetters } from "../lib/core/ports/wake-ups.ts";
import type { WorkKey } from "../lib/core/work-key.ts";
import type { Kind } from "../lib/flows/kinds/kind.ts";
import { runInput } from "../lib/flows/kinds/run-input.ts";
import { reportParked } from "../lib/flows/kinds/status-reporter.ts";
import type { ServedCluster } from "../lib/gate/served-clusters.ts";
import type { QueueDeps, RunnerDeps } from "../lib/queue/queue-deps.ts";
import { runPlaces } from "../lib/queue/run-places.ts";

interface RunnerParts {
  readonly clusters: { get(id: string): Pick<ServedCluster, "home"> | undefined };
  readonly deadLetters: DeadLetters;
  readonly metrics: Metrics;
  /** The kinds with flows. */
  readonly kinds: readonly Kind[];
}

/** What the flows of these kinds need to run in the cluster of their key, beside the queue itself. */
export function runnerDeps(queue: QueueDeps, { clusters, deadLetters, metrics, kinds }: RunnerParts): RunnerDeps {
  /** Runs begin only in clusters that are served. */
  const homeOf = ({ cluster: id }: WorkKey): HomeCluster => {
    const cluster = clusters.get(id);
    if (cluster === undefined) throw new Error(`cluster ${id} is not served here`);
    return cluster.home;
  };
  return {
    ...queue,
    deadLetters: {
      async send(letter, signal) {
        await deadLetters.send(letter, signal);
        metrics.record(letter.key, { ReconcilesParked: 1 });
      },
    },
    runPlaces: runPlaces(queue.clock),
    newHolder: randomUUID,
    inputOf: async (key, signal) => runInput(key, { home: homeOf(key), kinds }, signal),
    onParked: async (run, message) => reportParked(run, message, { home: homeOf(run.key), clock: queue.clock, kinds }),
  };
}
