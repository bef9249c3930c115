import type { Clock } from "../core/ports/clock.ts";
import type { Metrics } from "../core/ports/metrics.ts";
import type { Flow, Run } from "../core/ports/run.ts";
import { GateClosed } from "../core/ports/write-gate.ts";
import { Shutdown } from "../queue/run-under-lease.ts";

/** Outcomes that count as failures. `waiting` is not among them: what an object waits for reports its own failure. */
export const failures: readonly string[] = ["failed", "stalled", "unreachable", "error"];
/**
 * The flow, which records how long each run took, and whether it failed. A run that changed nothing is not recorded: metrics are paid for by the hour. A run that throws has the outcome `error`, unless it was
 * stopped by a shutdown, or because the installation may no longer write to the cluster.
 */
export function measured(flow: Flow, { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock }): Flow {
  return async (run) => {
    const startedAt = clock.monotonic();
    const record = (outcome: string): void => {
      const measures = {
        ReconcileDuration: clock.monotonic() - startedAt,
        ...(failures.includes(outcome) ? { ReconcilesFailed: 1 } : {}),
      };
      metrics.record(run.key, measures, { outcome });
    };
    try {
      const result = await flow(run);
      if (result.isQuiet !== true) record(result.outcome);
      return result;
    } catch (error) {
      record(outcomeOf(error, run));
      throw error;
    }
  };
}

function outcomeOf(error: unknown, { signal }: Run): string {
  if (error instanceof GateClosed) return "refused";
  return signal.reason instanceof Shutdown ? "handedBack" : "error";
}
