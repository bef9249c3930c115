import type { Clock } from "../core/ports/clock.ts";

/**
 * When a run checks again, in milliseconds from its start, before it ends and leaves the rest to a wake-up. Kubernetes' controller for Jobs
 * takes a second from the first Pod of a Job until the Job is complete (`syncJobBatchPeriod`): the last look comes shortly after that.
 */
const looks = [0, 20, 50, 100, 200, 400, 700, 1_050];

/**
 * Looks at once and a few times within the first second or so, and answers the first thing that `look` finds. Undefined where
 * that second was not enough: no handler is paid for waiting longer, a delayed wake-up looks again.
 */
export async function lookAFewTimes<Found>(
  look: () => Promise<Found | undefined>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Found | undefined> {
  let passed = 0;
  for (const at of looks) {
    if (at > passed) await clock.sleep(at - passed, signal);
    passed = at;
    const found = await look();
    if (found !== undefined) return found;
  }
  return undefined;
}
