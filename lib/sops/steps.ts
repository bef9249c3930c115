import { setImmediate } from "node:timers/promises";

/** Work on a file that takes long: at each `yield` other work of the process may have its turn. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** So many values are worked on in one step: a few milliseconds. */
const valuesPerStep = 1_000;

/** Says for each value whether the step has been long enough. */
export function pace(): () => boolean {
  let left = valuesPerStep;
  return () => {
    left--;
    if (left > 0) return false;
    left = valuesPerStep;
    return true;
  };
}

/** Timers and signals are seen between the steps, such as the heartbeat of a lease. Throws what a step does, or the reason of the signal. */
export async function inTurns<Result>(steps: Steps<Result>, signal: AbortSignal): Promise<Result> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    await setImmediate();
    signal.throwIfAborted();
  }
}

/** Does all steps without a pause: for small files. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
  }
}
