import { z } from "zod";
import type { CanaryStatus } from "../../api/canary.ts";
import type { Run } from "../../core/ports/run.ts";

/** What one run of a Canary passes on to the next about time. */
export const Paced = z.object({
  /** When the last step began, by the clock of its machine, in milliseconds since 1970. */
  steppedAt: z.number().exactOptional(),
  /** The `lastTransitionTime` that this step left: if the status still has it, no other step was taken. */
  wrote: z.string().exactOptional(),
  /** Whether a run since then has waited though the clocks said that the interval is over. */
  isHeldBack: z.boolean().exactOptional(),
  /** From `retryOutages`: then the next run follows by back-off, not by the interval. */
  outage: z.unknown().optional(),
});
export type Paced = Readonly<z.infer<typeof Paced>>;

/** Clocks of machines may be so far apart that a step seems to be over long ago. */
const lateMs = 60_000;

/** The inputs that decide whether the next step is due. */
interface Pace {
  readonly intervalMs: number;
  readonly now: number;
  readonly paced: Paced;
  readonly run: Pick<Run, "isRequested" | "isRetry">;
  readonly status: Pick<CanaryStatus, "lastTransitionTime">;
}

/** A step now, or how long to wait for it. */
export type Due =
  | { readonly isDue: true }
  | { readonly isDue: false; readonly dueInMs: number; readonly paced: Omit<Paced, "outage"> };

/**
 * Whether a step of a run may be taken (reference canary, statement 30: each waits at least one interval). Pure.
 *
 * A run that only the interval asks for was delayed by the queue, so no machine's clock matters. A run after a hint, or after one
 * that was cut off, may begin at any moment: then the time of the last step decides. A last step in the future counts as taken now. A
 * step that is long overdue makes the run wait for one more interval, once: for a machine whose clock is five minutes behind, each
 * step looks overdue.
 */
export function whenToStep({ intervalMs, now, paced, run, status }: Pace): Due {
  const isByInterval = !run.isRequested && run.isRetry !== true && paced.outage === undefined;
  if (isByInterval) return { isDue: true };
  const since = lastStepAt(paced, status);
  if (since === undefined) return { isDue: true };
  const { isHeldBack = false } = paced;
  const wrote = status.lastTransitionTime ?? "";
  const steppedAt = Math.min(since, now);
  const leftMs = steppedAt + intervalMs - now;
  if (leftMs > 0) return { isDue: false, dueInMs: leftMs, paced: { steppedAt, wrote, isHeldBack } };
  if (leftMs < -lateMs && !isHeldBack) {
    return { isDue: false, dueInMs: intervalMs, paced: { steppedAt: now, wrote, isHeldBack: true } };
  }
  return { isDue: true };
}

/**
 * Whether a Canary at rest may revert other writers' changes: at the earliest an interval after its last step, so that it and another
 * writer do not overwrite each other in a loop. Pure.
 */
export function whenToMend({ intervalMs, now, paced, run, status }: Pace): Due {
  const since = lastStepAt(paced, status);
  if (!run.isRequested || since === undefined) return { isDue: true };
  const at = Math.min(since, now);
  const leftMs = at + intervalMs - now;
  if (leftMs <= 0) return { isDue: true };
  return { isDue: false, dueInMs: leftMs, paced: { steppedAt: at, wrote: status.lastTransitionTime ?? "" } };
}

/** The times of the work item, unless the status was written since: its times are whole seconds, rounded down. */
function lastStepAt({ steppedAt, wrote }: Paced, { lastTransitionTime = "" }: Pace["status"]): number | undefined {
  const written = Date.parse(lastTransitionTime) + 999;
  return Number.isNaN(written) || (steppedAt !== undefined && wrote === lastTransitionTime) ? steppedAt : written;
}
