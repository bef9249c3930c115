import type { Clock } from "../core/ports/clock.ts";
import type { Metrics } from "../core/ports/metrics.ts";
import { GateClosed } from "../core/ports/write-gate.ts";
import type { Flow } from "../core/run.ts";
import { HandBack } from "../queue/hand-back.ts";

/** Outcomes that somebody may have to look at. `waiting` is none: what is waited for tells of itself. */
const failures: readonly string[] = ["failed", "stalled", "unreachable", "error"];

/**
 * The flow, with how long each of its runs took and whether it failed. A run that throws has the outcome `error`, unless it
 * was stopped because its process ends, or because nothing may be written to the cluster any more.
 */
export function measured(flow: Flow, { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock }): Flow {
  return async (run) => {
    const startedAt = clock.monotonic();
    let outcome: string | undefined;
    try {
      const result = await flow(run);
      ({ outcome } = result);
      return result;
    } catch (error) {
      if (error instanceof GateClosed) outcome = "refused";
      throw error;
    } finally {
      outcome ??= run.signal.reason instanceof HandBack ? "handedBack" : "error";
      const failed = failures.includes(outcome) ? 1 : 0;
      const measures = { ReconcileDuration: clock.monotonic() - startedAt, ReconcilesFailed: failed };
      metrics.record(run.key, measures, { outcome });
    }
  };
}
