import { z } from "zod";
import { messageOf } from "../core/failure.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import { notReadyMs } from "../core/ports/metrics.ts";
import type { NotReady, ObservedResources } from "../core/ports/observed-resources.ts";
import type { Flow, FlowResult, Run } from "../core/ports/run.ts";
import { GateClosed } from "../core/ports/write-gate.ts";
import { Shutdown } from "../queue/run-under-lease.ts";
import { failures } from "./measured.ts";

/** Outcomes after which the object is not Ready. */
const notReady: readonly string[] = [...failures, "waiting"];

/** Since when the object has not been Ready, and the outcome in its mark; passed on with the flow's state. */
const Carried = z.object({ notReadySince: z.number(), notReadyMark: z.string().exactOptional() });
type Carried = z.infer<typeof Carried>;

export interface MarkDeps {
  readonly observed: Pick<ObservedResources, "markNotReady" | "markReady">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The flow, which marks its object where the sweep finds it while it is not Ready: a run says this once, and an object that is
 * Stalled is not run again. A waiting object is marked once it has waited for {@link notReadyMs}, since most waits are short. If the
 * mark cannot be written, the run continues, and the next run writes it.
 */
export function markReadiness(flow: Flow, deps: MarkDeps): Flow {
  return async (run) => {
    const carried = Carried.safeParse(run.carried).data;
    const since = carried?.notReadySince ?? deps.clock.now();
    let result: FlowResult;
    try {
      result = await flow(run);
    } catch (error) {
      if (counts(error, run)) await mark(run, { since, outcome: "error" }, deps);
      throw error;
    }
    const { outcome } = result;
    if (!notReady.includes(outcome)) {
      const isMarked = carried?.notReadyMark !== undefined || run.isRetry === true;
      const isRemoved = !isMarked || (await unmark(run, deps));
      return isRemoved ? result : carrying(result, { notReadySince: since, notReadyMark: outcome });
    }
    const isWorthIt = failures.includes(outcome) || deps.clock.now() - since > notReadyMs;
    const isMarked = carried?.notReadyMark === outcome;
    const isWritten = isMarked || (isWorthIt && (await mark(run, { since, outcome }, deps)));
    const notReadyMark = isWritten ? outcome : carried?.notReadyMark;
    return carrying(result, { notReadySince: since, ...(notReadyMark === undefined ? {} : { notReadyMark }) });
  };
}

function carrying(result: FlowResult, carried: Carried): FlowResult {
  return { ...result, carried: { ...result.carried, ...carried } };
}

/** Whether a run that throws leaves its object not Ready: not if it is stopped from outside, or if another run has its lease. */
function counts(error: unknown, run: Run): boolean {
  if (error instanceof GateClosed || run.signal.reason instanceof Shutdown) return false;
  try {
    run.assertLease();
    return true;
  } catch {
    return false;
  }
}

/** Answers whether it is written. Not under the run's signal: the time may be up. The store limits its own calls. */
function mark({ key }: Run, notReady: NotReady, deps: MarkDeps): Promise<boolean> {
  return written((signal) => deps.observed.markNotReady(key, notReady, signal), key, deps);
}

function unmark({ key }: Run, deps: MarkDeps): Promise<boolean> {
  return written((signal) => deps.observed.markReady(key, signal), key, deps);
}

async function written(
  write: (signal: AbortSignal) => Promise<void>,
  key: Run["key"],
  { log }: MarkDeps,
): Promise<boolean> {
  try {
    await write(new AbortController().signal);
    return true;
  } catch (error) {
    log.warn("readiness of an object not stored, its next run stores it", { key, error: messageOf(error) });
    return false;
  }
}
