import { z } from "zod";
import type { Clock } from "../core/ports/clock.ts";
import { type Metrics, notReadyMs } from "../core/ports/metrics.ts";
import type { Flow, FlowResult, Run } from "../core/ports/run.ts";
import { GateClosed } from "../core/ports/write-gate.ts";
import { Shutdown } from "../queue/run-under-lease.ts";

/** Outcomes that count as failures. `waiting` is not among them: what an object waits for reports its own failure. */
const failures: readonly string[] = ["failed", "stalled", "unreachable", "error"];
/** Outcomes after which the object is not Ready. */
const notReady: readonly string[] = [...failures, "waiting"];

/** Since when the object has not been Ready, wall time in milliseconds; carried from run to run beside what the flow carries. */
const Carried = z.object({ notReadySince: z.number() });

/**
 * The flow, which records how long each run took, whether it failed, and whether its object has not been Ready for long. A run that
 * changed nothing is not recorded: metrics are paid for by the hour. A run that throws has the outcome `error`, unless it was
 * stopped by a shutdown, or because the installation may no longer write to the cluster.
 */
export function measured(flow: Flow, { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock }): Flow {
  return async (run) => {
    const startedAt = clock.monotonic();
    const since = Carried.safeParse(run.carried).data?.notReadySince ?? clock.now();
    const record = (outcome: string): void => {
      const isNotReady = outcome === "stalled" || (notReady.includes(outcome) && clock.now() - since > notReadyMs);
      const measures = {
        ReconcileDuration: clock.monotonic() - startedAt,
        ...(failures.includes(outcome) ? { ReconcilesFailed: 1 } : {}),
        ...(isNotReady ? { ObjectsNotReady: 1 } : {}),
      };
      metrics.record(run.key, measures, { outcome });
    };
    try {
      const result = await flow(run);
      if (result.isQuiet !== true) record(result.outcome);
      return notReady.includes(result.outcome) ? carrying(result, since) : result;
    } catch (error) {
      record(outcomeOf(error, run));
      throw error;
    }
  };
}

function carrying(result: FlowResult, notReadySince: number): FlowResult {
  return { ...result, carried: { ...result.carried, notReadySince } };
}

function outcomeOf(error: unknown, { signal }: Run): string {
  if (error instanceof GateClosed) return "refused";
  return signal.reason instanceof Shutdown ? "handedBack" : "error";
}
