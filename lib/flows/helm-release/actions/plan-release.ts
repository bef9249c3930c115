import { desiredObjects } from "../../../apply/desired-objects.ts";
import { type PlannedSet, planSet } from "../../../apply/plan-set.ts";
import { formatEntryId } from "../../../apply/set/entry-id.ts";
import { Failure } from "../../../core/failure.ts";
import type { InventoryEntry } from "../../../core/ports/inventory-store.ts";
import type { ActionWait } from "../attempt/action.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import { applySetOf } from "./apply-set.ts";
import type { MarkedRelease } from "./helm-marks.ts";
import { foreignObjects } from "./ownership.ts";
import { type ManifestRefusal, refusalOf } from "./refusals.ts";
import type { ReleaseObject } from "./release-objects.ts";

/** A manifest that the API server accepts as a whole, or why it does not. */
export type ReleasePlan =
  | { readonly kind: "planned"; readonly planned: PlannedSet; readonly inventory: readonly InventoryEntry[] }
  | ({ readonly kind: "refused" } & ManifestRefusal);

/**
 * Plans the objects of a release by dry runs, all of them before the first is written.
 *
 * @param former objects of the revision before: what of them is not wanted is pruned
 */
export async function planRelease(
  objects: readonly ReleaseObject[],
  former: readonly ReleaseObject[],
  { action, release }: { readonly action: "install" | "rollback" | "upgrade"; readonly release: MarkedRelease },
  ctx: HelmReleaseContext,
  wait: ActionWait | undefined,
): Promise<ReleasePlan> {
  const { deps, owner, run } = ctx;
  const set = applySetOf(ctx);
  const manifests = objects.map(({ manifest }) => manifest);
  const built = await refusing(() => desiredObjects(manifests, { ...set, rules: set.rules }, run.signal));
  if (built instanceof Failure) {
    const message = `unable to build kubernetes objects from release manifest: ${built.message.trim()}`;
    return { kind: "refused", isEarly: true, message };
  }
  const saved = (await deps.inventories.load(owner, run.fence, run.signal)) ?? [];
  const inventory = [...saved, ...notIn(saved, former)];
  const isLook = wait?.for === "objects";
  const wanted = {
    manifests,
    inventory,
    ignore: [],
    force: false,
    policy: "prune",
    isAwaited: isLook,
    isLook,
  } as const;
  const planned = await refusing(() => planSet(wanted, set, run.signal));
  if (!(planned instanceof Failure)) {
    const foreign = await foreignOf(planned, former, action, release, ctx);
    if (foreign.length === 0) return { kind: "planned", planned, inventory };
    const begin = action === "install" ? "install" : "update";
    return { kind: "refused", isEarly: true, message: `unable to continue with ${begin}: ${foreign.join("\n")}` };
  }
  return { kind: "refused", ...refusalOf(planned.message.trim().split("\n"), objects, action) };
}

async function foreignOf(
  planned: PlannedSet,
  former: readonly ReleaseObject[],
  action: "install" | "rollback" | "upgrade",
  release: MarkedRelease,
  ctx: HelmReleaseContext,
): Promise<readonly string[]> {
  if (action === "rollback" || ctx.release.spec[action]?.disableTakeOwnership !== true) return [];
  return foreignObjects(planned, former, release, ctx);
}

async function refusing<Result>(work: () => Promise<Result>): Promise<Result | Failure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure && error.reason === "ReconciliationFailed") return error;
    throw error;
  }
}

/** What the former revision has and no inventory knows: it was written by Flux or by Helm. */
function notIn(saved: readonly InventoryEntry[], former: readonly ReleaseObject[]): readonly InventoryEntry[] {
  const known = new Set(saved.map(({ id }) => id));
  return former
    .filter(({ ref, resource }) => resource !== undefined && !known.has(formatEntryId(ref)))
    .map(({ ref }) => ({ id: formatEntryId(ref), version: ref.version, state: "planned" }));
}
