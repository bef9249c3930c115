import { lookAFewTimes } from "../../../apply/poll.ts";
import type { ActionWait } from "../attempt/action.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";

/** The pace of looks at something that is waited for: 1, 2, 3, 5, 5 … seconds. */
export function nextLookMs(looks: number): number {
  return [1_000, 2_000, 3_000][looks] ?? 5_000;
}

/** Between two looks at objects that are being deleted: Flux's own poll. */
export const terminationLookMs = 2_000;

/** The wait for this, as an earlier run has carried it, or one that begins now. */
export function waitFor(what: string, carried: ActionWait | undefined, now: number): ActionWait {
  return carried?.for === what ? carried : { for: what, since: now, looks: 0 };
}

/** Looks a few times at the start of a wait, and once in each later run of it. */
export async function lookNow<Found>(
  look: () => Promise<Found | undefined>,
  wait: ActionWait,
  { deps, run }: Pick<HelmReleaseContext, "deps" | "run">,
): Promise<Found | undefined> {
  return wait.looks === 0 ? lookAFewTimes(look, deps.clock, run.signal) : look();
}

/** The wait with one more look, for the next run. */
export function looked(wait: ActionWait): ActionWait {
  return { ...wait, looks: wait.looks + 1 };
}
