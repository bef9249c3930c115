import { type KnownInventory, writeAhead } from "../../apply/inventory.ts";
import { changesAnything, emptiedWarning } from "../../apply/plan.ts";
import { type PlannedSet, planSet } from "../../apply/plan-set.ts";
import type { ApplySet } from "../../apply/set/apply-set.ts";
import { allEnded } from "../../core/concurrency.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { applySetOf, inventoryOf } from "./apply-set.ts";
import { type Attempt, attempted, progressText, type Reached, step } from "./attempt.ts";
import { inProgress } from "./status.ts";

/** A revision that may be applied: no object of it is refused. */
export interface PlannedRevision extends Reached {
  readonly set: ApplySet;
  readonly known: KnownInventory;
  readonly planned: PlannedSet;
}

/** A planned revision whose objects are all in the saved inventory and claimed, so that a killed run loses none of them. */
export interface GuardedRevision extends PlannedRevision {
  /** The saved inventory. */
  readonly ahead: readonly InventoryEntry[];
}

/** Plans the revision. Nothing is written before the whole plan stands (ADR 0005 has the one exception). */
export const plan = step(async (reached: Reached, { ctx, source, wait }: Attempt): Promise<PlannedRevision> => {
  const { force, ignore = [], prune } = ctx.kustomization.spec;
  const set = applySetOf(ctx, source);
  const known = await inventoryOf(ctx);
  const wanted = {
    manifests: reached.built.manifests,
    ignore,
    inventory: known.entries,
    force,
    policy: prune ? "prune" : "retain",
    isAwaited: wait !== undefined,
    isLook: wait?.phase === "health" && !ctx.run.isRequested,
  } as const;
  return { ...reached, set, known, planned: await planSet(wanted, set, ctx.run.signal) };
});

/**
 * The last step before the first write to a managed object: the inventory lists the objects, Ready is Unknown so that a half-applied
 * revision does not look applied, and users are warned if a revision prunes everything.
 */
export const guard = step(async (revision: PlannedRevision, attempt: Attempt): Promise<GuardedRevision> => {
  const { known, planned, set } = revision;
  const { ctx } = attempt;
  const announcing = changesAnything(planned.plan) ? announce(revision, attempt) : Promise.resolve();
  const [ahead] = await allEnded([writeAhead(known, planned.desired, set, ctx.run.signal), announcing]);
  return { ...revision, ahead };
});

async function announce(revision: PlannedRevision, attempt: Attempt): Promise<void> {
  const { ctx, wait } = attempt;
  warnIfEmptied(revision, attempt);
  // An earlier run that waits has reported it, with the cause of its wait.
  const isReported = wait?.phase === "apply" || wait?.phase === "deletion";
  await allEnded([isReported ? Promise.resolve() : reportProgress(attempt), ctx.eventsSent()]);
}

async function reportProgress(attempt: Attempt): Promise<void> {
  const { ctx } = attempt;
  await ctx.write(attempted(inProgress(ctx.status(), progressText("apply", attempt), ctx), attempt));
}

/** An empty revision prunes everything, as in Flux. Users are warned before that, so that they need not search for the cause. */
function warnIfEmptied({ planned }: PlannedRevision, { ctx, source, annotations }: Attempt): void {
  const warning = ctx.kustomization.spec.prune ? emptiedWarning(planned.plan) : undefined;
  if (warning === undefined) return;
  const { lastAppliedRevision } = ctx.status();
  // For the same revision the spec has emptied it: no artifact mends that.
  const isMend = lastAppliedRevision !== undefined && lastAppliedRevision !== source.revision;
  const mend = isMend ? `; if that is not meant, publish ${lastAppliedRevision} again` : "";
  const message = `${warning}${mend}`;
  ctx.deps.log.warn(message, { ...ctx.run.key });
  ctx.record({ type: "Warning", reason: "PruningAll", message, annotations });
}
