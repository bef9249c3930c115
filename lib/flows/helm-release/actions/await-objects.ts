import { helmGroup, ownerSelector } from "../../../api/names.ts";
import { mayVanish } from "../../../apply/terminating.ts";
import { Failure } from "../../../core/failure.ts";
import { isJsonObject } from "../../../core/json.ts";
import { checkHealth, type HealthTarget, type Verdict, verdict } from "../../../health/check-health.ts";
import type { ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import type { ReleaseObject } from "./release-objects.ts";
import { looked, lookNow, nextLookMs, waitFor } from "./wait.ts";

/** The result of a wait for objects. */
export type AwaitedObjects =
  | { readonly kind: "ready" }
  | { readonly kind: "waiting"; readonly wait: ActionWait; readonly dueInMs: number }
  | { readonly kind: "failed"; readonly message: string };

interface HowToWait {
  readonly timeoutMs: number;
  readonly waitsForJobs: boolean;
}

/**
 * Waits until the objects of a release are ready, by wake-ups (reference helmrelease 11): a failed object ends the wait at once, and the
 * texts are those of kstatus' poller.
 */
export async function awaitObjects(
  objects: readonly ReleaseObject[],
  carried: ActionWait | undefined,
  { timeoutMs, waitsForJobs }: HowToWait,
  { ctx, healthRules }: Pick<ReleaseAttempt, "ctx" | "healthRules">,
): Promise<AwaitedObjects> {
  const { clock } = ctx.deps;
  const wait = waitFor("objects", carried, clock.now());
  const targets = objects.flatMap((object) => targetOf(object, waitsForJobs));
  const labelSelector = ownerSelector({ ...ctx, labelGroup: helmGroup });
  const seen: Verdict[] = [];
  const look = async (): Promise<true | undefined> => {
    const deps = { cluster: ctx.target, now: clock.now(), since: wait.since, rules: healthRules, labelSelector };
    const now = verdict(await checkHealth(targets, deps, ctx.run.signal), { isFailFast: true });
    seen.push(now);
    return now.kind !== "waiting" || (await ctx.run.superseded()) ? true : undefined;
  };
  try {
    if (targets.length > 0) await lookNow(look, wait, ctx);
  } catch (error) {
    if (error instanceof Failure) return { kind: "failed", message: error.message };
    throw error;
  }
  const last = seen.at(-1);
  if (last === undefined || last.kind === "healthy") return { kind: "ready" };
  const isOver = clock.now() - wait.since >= timeoutMs;
  if (last.kind === "waiting" && !isOver) {
    return { kind: "waiting", wait: looked(wait), dueInMs: nextLookMs(wait.looks) };
  }
  const isLegacy = ctx.release.spec.waitStrategy?.name === "legacy";
  return { kind: "failed", message: isLegacy ? "context deadline exceeded" : last.message };
}

/** Jobs are waited for unless the spec says otherwise; a paused Deployment is not, as in Helm. */
function targetOf({ manifest, ref }: ReleaseObject, waitsForJobs: boolean): readonly HealthTarget[] {
  const spec = manifest["spec"];
  const isPaused = ref.kind === "Deployment" && isJsonObject(spec) && spec["paused"] === true;
  if (isPaused || (!waitsForJobs && ref.group === "batch" && ref.kind === "Job")) return [];
  return [{ ref, mayVanish: mayVanish(manifest) }];
}
