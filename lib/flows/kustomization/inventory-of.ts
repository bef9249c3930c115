import { adoptedEntries } from "../../apply/adopted-entries.ts";
import { Failure } from "../../core/failure.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { isOlderInventory } from "./is-older-inventory.ts";
import { readMemo } from "./memo.ts";
import { retainLetGo } from "./retain-let-go.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** What a Kustomization has in the cluster, as far as is known before a run. */
export interface KnownInventory {
  readonly entries: readonly InventoryEntry[];
  /**
   * Some of it only the status knew, or it was saved under another generation: it has to be saved before anything is written.
   * A deletion of the Kustomization need not: the status stays until its end.
   */
  readonly isAhead: boolean;
}

/**
 * What the Kustomization has in the cluster: our own inventory, and what its status shows beyond that. Alone the status
 * counts for objects that Flux applied and after a lost table; beside our own it brings back what was applied after the
 * backup that a table was restored from, or by Flux meanwhile. Anybody may have written it: what it says is only looked at.
 */
export async function inventoryOf(of: SubjectOfRun): Promise<KnownInventory> {
  const { entries: saved, isCurrent } = await savedInventory(of);
  const { status } = of.kustomization;
  const shown = saved !== undefined && readMemo(of.run.memo).isFinalizing ? [] : (status.inventory?.entries ?? []);
  const { entries, unreadable } = adoptedEntries(saved ?? [], shown);
  const [wrong] = unreadable;
  if (wrong !== undefined) {
    const message = `unable to parse stored object metadata: ${wrong}`;
    if (saved === undefined) throw new Failure("ReconciliationFailed", message);
    // Our own inventory is whole without it, and the status is written anew at the end of the run.
    of.deps.log.warn(message, { ...of.run.key });
  }
  return { entries: [...(saved ?? []), ...entries], isAhead: entries.length > 0 || !isCurrent };
}

/**
 * Before a status names a generation under which nothing is applied: else our own inventory would look older than that from
 * then on. Nothing is saved where nothing was.
 */
export async function saveUnderGeneration(of: SubjectOfRun): Promise<void> {
  if (of.status().observedGeneration === of.generation) return;
  const { entries, isCurrent } = await savedInventory(of);
  if (entries !== undefined && !isCurrent)
    await of.deps.inventories.save(of.owner, entries, of.run.fence, of.run.signal);
}

/** Our own inventory, without what was let go since it was saved; whether it was saved under the present generation. */
async function savedInventory(
  of: SubjectOfRun,
): Promise<{ readonly entries: readonly InventoryEntry[] | undefined; readonly isCurrent: boolean }> {
  const { deps, generation, kustomization, owner, run } = of;
  const entries = await deps.inventories.load(owner, run.fence, run.signal);
  if (entries === undefined) return { entries, isCurrent: false };
  const savedUnder = await deps.inventories.savedUnder(owner, run.fence, run.signal);
  if (savedUnder === undefined || !isOlderInventory(savedUnder, kustomization.status, generation)) {
    return { entries, isCurrent: savedUnder === generation };
  }
  return { entries: await retainLetGo(entries, savedUnder, of), isCurrent: false };
}
