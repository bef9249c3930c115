import { applyAll } from "../../../apply/apply-all.ts";
import { saveIfChanged, withApplied, writeAhead } from "../../../apply/inventory.ts";
import { prune } from "../../../apply/prune/prune.ts";
import type { ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { applySetOf } from "./apply-set.ts";
import type { ReleasePlan } from "./plan-release.ts";
import { timeoutMsOf } from "./timeouts.ts";
import { looked, nextLookMs, waitFor } from "./wait.ts";

export type AppliedOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "waiting"; readonly wait: ActionWait; readonly dueInMs: number }
  | { readonly kind: "failed"; readonly message: string };

/**
 * Writes the inventory ahead, applies the objects, and then prunes what the former revision had beside them. A run that was killed here
 * does all of it again: what is applied is proven unchanged.
 */
export async function applyObjects(
  { inventory, planned }: Extract<ReleasePlan, { kind: "planned" }>,
  action: "install" | "rollback" | "upgrade",
  { ctx, healthRules }: ReleaseAttempt,
  carried: ActionWait | undefined,
): Promise<AppliedOutcome> {
  const { deps, run } = ctx;
  const set = applySetOf(ctx);
  const ahead = await writeAhead({ entries: inventory, isAhead: false }, planned.desired, set, run.signal);
  const outcome = await applyAll(planned.plan.objects, { ...planned.applyDeps, healthRules }, run.signal);
  const after = withApplied(ahead, outcome.applied);
  await saveIfChanged(ahead, after, set, run.signal);
  if (outcome.kind === "failed") return { kind: "failed", message: outcome.message };
  if (outcome.kind === "waiting") {
    const wait = waitFor(`apply: ${outcome.on}`, carried, deps.clock.now());
    if (deps.clock.now() - wait.since >= timeoutMsOf(action, ctx)) return { kind: "failed", message: outcome.why };
    return { kind: "waiting", wait: looked(wait), dueInMs: nextLookMs(wait.looks) };
  }
  if (action === "install") return { kind: "done" };
  const order = { ...planned.pruneTask, inventory: after, planned: planned.plan.prune, saved: after };
  const { pruned, refusals } = await prune(order, set, run.signal);
  const refused = [...refusals, ...pruned.flatMap((one) => (one.kind === "refused" ? [one.message] : []))];
  return refused.length === 0 ? { kind: "done" } : { kind: "failed", message: refused.join("\n") };
}
