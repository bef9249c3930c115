import type { HookEvent } from "../../../core/ports/helm-engine.ts";
import type { StoredRevision } from "../../../helm/release-store.ts";
import type { ActionOutcome, ActionWait, WaitingAction } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { applyPlanned, type PlannedObjects, planObjects, type RefusedObjects } from "./apply-objects.ts";
import { awaitObjects } from "./await-objects.ts";
import { fail, failObjects, succeed } from "./end-revision.ts";
import { runHooks } from "./hooks.ts";
import { releaseObjects } from "./release-objects.ts";
import { type Former, formerManifest, type RevisionPlan } from "./revision-plan.ts";
import { timeoutMsOf } from "./timeouts.ts";
import { looked, nextLookMs, waitFor } from "./wait.ts";

/** Brings a stored revision to its end from wherever its record says that it stands. */
export async function carryOn(
  plan: RevisionPlan,
  begun: StoredRevision,
  former: Former,
  attempt: ReleaseAttempt,
  wait: ActionWait | undefined,
  planned?: PlannedObjects | RefusedObjects,
): Promise<ActionOutcome> {
  if (planned !== undefined && "kind" in planned) return failObjects(plan, planned.message, begun, former, attempt);
  const before = await hooks(plan, plan.before, begun, attempt, wait);
  if (before.kind === "waiting") return before;
  if (before.kind === "failed") {
    return fail(plan, plan.hookFailed(plan.before, before.message), before.stored, attempt);
  }
  let { stored } = before;
  // Once the last hooks have begun, the objects are applied and ready.
  if (stored.mark?.hooks !== plan.after) {
    const objects = await bringIn(plan, stored, former, attempt, wait, planned);
    if (objects.kind === "waiting") return objects;
    if (objects.kind === "failed") return failObjects(plan, objects.message, stored, former, attempt);
  }
  const after = await hooks(plan, plan.after, stored, attempt, wait);
  if (after.kind === "waiting") return after;
  stored = after.stored;
  if (after.kind === "failed") return fail(plan, plan.hookFailed(plan.after, after.message), stored, attempt);
  return succeed(plan, stored, former, attempt);
}

type Hooks =
  | { readonly kind: "done" | "failed"; readonly stored: StoredRevision; readonly message: string }
  | WaitingAction;

async function hooks(
  { action, disablesHooks, ociDigest }: RevisionPlan,
  event: HookEvent,
  stored: StoredRevision,
  { ctx, healthRules, store }: ReleaseAttempt,
  wait: ActionWait | undefined,
): Promise<Hooks> {
  if (disablesHooks) return { kind: "done", stored, message: "" };
  const releaseNamespace = stored.observed.namespace;
  const runner = { ctx, store, ociDigest, releaseNamespace, timeoutMs: timeoutMsOf(action, ctx), healthRules };
  const outcome = await runHooks(runner, event, stored, wait);
  if (outcome.kind === "waiting") return { kind: "waiting", wait: outcome.wait, dueInMs: outcome.dueInMs };
  return { kind: outcome.kind, stored: outcome.stored, message: outcome.kind === "failed" ? outcome.message : "" };
}

async function bringIn(
  plan: RevisionPlan,
  stored: StoredRevision,
  former: Former,
  attempt: ReleaseAttempt,
  wait: ActionWait | undefined,
  before: PlannedObjects | undefined,
): Promise<WaitingAction | { readonly kind: "done" } | { readonly kind: "failed"; readonly message: string }> {
  const { ctx } = attempt;
  const { observed } = stored;
  const isAwaited = wait?.for === "objects";
  const planned =
    before ?? (await planObjects(observed, formerManifest(plan, former), attempt, isAwaited, plan.action));
  if ("kind" in planned) return { kind: "failed", message: planned.message };
  const applied = await applyPlanned(planned, attempt);
  if (applied.kind === "failed") return applied;
  if (applied.kind === "waiting") {
    const stage = waitFor("stage", wait, ctx.deps.clock.now());
    const isOver = ctx.deps.clock.now() - stage.since >= timeoutMsOf(plan.action, ctx);
    if (isOver) return { kind: "failed", message: applied.why };
    return { kind: "waiting", wait: looked(stage), dueInMs: nextLookMs(stage.looks) };
  }
  if (plan.disablesWait) return { kind: "done" };
  const how = { timeoutMs: timeoutMsOf(plan.action, ctx), waitsForJobs: plan.waitsForJobs };
  const awaited = await awaitObjects(await releaseObjects(observed, ctx), wait, how, attempt);
  return awaited.kind === "ready" ? { kind: "done" } : awaited;
}
