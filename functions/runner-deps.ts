import { randomUUID } from "node:crypto";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import type { DeadLetters } from "../lib/core/ports/wake-ups.ts";
import { reportPoisoned } from "../lib/flows/report-poisoned.ts";
import { runInput } from "../lib/flows/run-input.ts";
import { processLock } from "../lib/queue/process-lock.ts";
import type { QueueDeps, RunnerDeps } from "../lib/queue/queue-deps.ts";

/** What it takes to run flows in a cluster, beside the queue itself. */
export function runnerDeps(
  queue: QueueDeps,
  { cluster, deadLetters, metrics }: { cluster: Cluster; deadLetters: DeadLetters; metrics: Metrics },
): RunnerDeps {
  return {
    ...queue,
    deadLetters: {
      async send(letter, signal) {
        await deadLetters.send(letter, signal);
        metrics.record(letter.key, { ReconcilesParked: 1 });
      },
    },
    processLock: processLock(queue.clock),
    newHolder: randomUUID,
    inputOf: (key, signal) => runInput(key, cluster, signal),
    onPoisoned: (run, message) => reportPoisoned(run, message, { cluster, clock: queue.clock }),
  };
}
