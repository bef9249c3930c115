import { effectiveTimeoutMs } from "../../api/kustomization.ts";
import { ownerSelector } from "../../api/owner-labels.ts";
import { lookAFewTimes } from "../../apply/poll.ts";
import { checkHealth, type HealthTarget, type Verdict, verdict } from "../../health/check-health.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

export interface HealthWait {
  /** When the wait began, wall time in milliseconds. */
  readonly since: number;
  /** How often a run has looked before this one. */
  readonly looks: number;
}

/** `timedOut` carries what was waited for. */
export type HealthOutcome = Verdict | { readonly kind: "timedOut"; readonly message: string };

/**
 * Looks at once; in the first run of a wait a few times more within a second, later ones look once. Gives way as soon as a
 * newer request for the same object is in. `beforeWaiting` is called when the first look was not enough.
 */
export async function awaitHealth(
  targets: readonly HealthTarget[],
  wait: HealthWait,
  of: SubjectOfRun,
  beforeWaiting: () => Promise<void>,
): Promise<HealthOutcome> {
  const { cluster, deps, kustomization, run } = of;
  const labelSelector = kustomization.spec.wait ? ownerSelector(of) : undefined;
  const look = async (): Promise<Verdict> => {
    const now = deps.clock.now();
    const selector = labelSelector === undefined ? {} : { labelSelector };
    return verdict(await checkHealth(targets, { cluster, now, ...selector }, run.signal));
  };
  let seen: Verdict | undefined;
  const lookAgain = async (): Promise<Verdict | undefined> => {
    const isFirst = seen === undefined;
    seen = await look();
    if (seen.kind === "waiting" && isFirst) await beforeWaiting();
    return seen.kind !== "waiting" || (await run.superseded()) ? seen : undefined;
  };
  if (wait.looks === 0) await lookAFewTimes(lookAgain, deps.clock, run.signal);
  else await lookAgain();
  const last: Verdict = seen ?? { kind: "healthy" };
  const isOver = deps.clock.now() - wait.since >= effectiveTimeoutMs(kustomization.spec);
  return last.kind === "waiting" && isOver ? { ...last, kind: "timedOut" } : last;
}
