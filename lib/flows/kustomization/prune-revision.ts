import type { DesiredObject } from "../../apply/desired-objects.ts";
import type { LiveObjects } from "../../apply/live-objects.ts";
import type { Pruned } from "../../apply/prune.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { leaveToOthers } from "./leave-to-others.ts";
import { pruneEntries } from "./prune-entries.ts";
import { refusePrune } from "./refuse-prune.ts";
import type { ResolvedSource } from "./resolve-source.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";
import { wantedBySiblings } from "./wanted-by-siblings.ts";

interface Revision {
  readonly source: ResolvedSource;
  readonly desired: readonly DesiredObject[];
  readonly live: LiveObjects;
}

export interface PrunedRevision {
  readonly pruned: readonly Pruned[];
  /** Why nothing was pruned, where something found its way meanwhile into what would go. */
  readonly pruneRefusals: readonly string[];
  readonly inventory: readonly InventoryEntry[];
}

/**
 * The last step of an apply: what the artifact wants no more is deleted. What others are about to have stays in the inventory,
 * so that a later run hands it over, or deletes it where they have changed their minds.
 */
export async function pruneRevision(
  unwanted: readonly InventoryEntry[],
  inventory: readonly InventoryEntry[],
  { source, desired, live }: Revision,
  of: SubjectOfRun,
): Promise<PrunedRevision> {
  if (!of.kustomization.spec.prune) {
    return { pruned: [], pruneRefusals: [], inventory: await letGo(unwanted, inventory, of) };
  }
  const others = await wantedBySiblings(unwanted, source, of);
  // The apply took its time: others may have put something there meanwhile.
  const pruneRefusals = await refusePrune(inventory, desired, live, others, of);
  if (pruneRefusals.length > 0) return { pruned: [], pruneRefusals, inventory };
  return { ...(await pruneEntries(leaveToOthers(unwanted, others.soon, of), inventory, live, of)), pruneRefusals };
}

/**
 * With `prune: false` nothing is deleted: the objects stay, and stay known, without a claim that would keep their next owner
 * from deleting them. As planned meanwhile: after a kill they are let go again, or claimed again where they are wanted again.
 */
async function letGo(
  unwanted: readonly InventoryEntry[],
  inventory: readonly InventoryEntry[],
  { deps, owner, run }: SubjectOfRun,
): Promise<readonly InventoryEntry[]> {
  if (unwanted.length === 0) return inventory;
  const ids = new Set(unwanted.map(({ id }) => id));
  const as = (state: InventoryEntry["state"]) =>
    inventory.map((entry) => (ids.has(entry.id) ? { ...entry, state } : entry));
  await deps.inventories.save(owner, as("planned"), run.fence, run.signal);
  await deps.ledger.release(owner.clusterUid, owner.uid, [...ids], run.fence, run.signal);
  return as("retained");
}
