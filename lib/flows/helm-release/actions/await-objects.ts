import { mayVanish } from "../../../apply/terminating.ts";
import { isJsonObject } from "../../../core/json.ts";
import { checkHealth, verdict } from "../../../health/check-health.ts";
import type { ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import type { ReleaseObject } from "./release-objects.ts";
import { timeoutMsOf } from "./timeouts.ts";
import { looked, lookNow, nextLookMs, waitFor } from "./wait.ts";

export type AwaitedOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "waiting"; readonly wait: ActionWait; readonly dueInMs: number }
  | { readonly kind: "failed"; readonly message: string };

/** Waits until the objects of a release are ready, by wake-ups, and fails as soon as one has failed (reference helmrelease 11). */
export async function awaitObjects(
  objects: readonly ReleaseObject[],
  action: "install" | "rollback" | "upgrade",
  { ctx, healthRules }: ReleaseAttempt,
  carried: ActionWait | undefined,
): Promise<AwaitedOutcome> {
  const { deps, release, run, target } = ctx;
  const spec = release.spec[action];
  if (spec?.disableWait === true) return { kind: "done" };
  const awaited = objects.filter(({ manifest }) => !isPaused(manifest));
  const targets = awaited.map(({ manifest, ref }) => ({ ref, mayVanish: mayVanish(manifest) }));
  const wait = waitFor("objects", carried, deps.clock.now());
  let pending = "";
  const look = async () => {
    const health = { cluster: target, now: deps.clock.now(), since: wait.since, rules: healthRules };
    const observed = await checkHealth(targets, health, run.signal);
    const leavesJobs = spec?.disableWaitForJobs === true;
    const counted = observed.filter(({ ref, status }) => !(leavesJobs && ref.kind === "Job" && status !== "Failed"));
    const found = verdict(counted);
    if (found.kind !== "waiting") return found;
    pending = found.message;
    return undefined;
  };
  const seen = await lookNow(look, wait, ctx);
  if (seen?.kind === "healthy") return { kind: "done" };
  if (seen === undefined && deps.clock.now() - wait.since < timeoutMsOf(action, ctx)) {
    return { kind: "waiting", wait: looked(wait), dueInMs: nextLookMs(wait.looks) };
  }
  const isLegacy = release.spec.waitStrategy?.name === "legacy";
  return { kind: "failed", message: isLegacy ? "context deadline exceeded" : (seen?.message ?? pending) };
}

function isPaused({ kind, spec }: ReleaseObject["manifest"]): boolean {
  return kind === "Deployment" && isJsonObject(spec) && spec["paused"] === true;
}
