import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { adoptedEntries } from "../../apply/adopted-entries.ts";
import { Failure } from "../../core/failure.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { readMemo } from "./memo.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** What a Kustomization has in the cluster, as far as is known before a run. */
export interface KnownInventory {
  readonly entries: readonly InventoryEntry[];
  /**
   * Some of it only the status knew: it has to be saved before anything is written. A deletion of the Kustomization need
   * not: the status stays until its end.
   */
  readonly isAhead: boolean;
}

/**
 * What the Kustomization has in the cluster: our own inventory, and what its status shows beyond that. Alone the status
 * counts for objects that Flux applied and after a lost table; beside our own it brings back what was applied after the
 * backup that a table was restored from, or by Flux meanwhile. Anybody may have written it: what it says is only looked at.
 */
export async function inventoryOf(of: SubjectOfRun): Promise<KnownInventory> {
  const saved = await of.deps.inventories.load(of.owner, of.run.fence, of.run.signal);
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
  return { entries: [...(saved ?? []), ...entries], isAhead: entries.length > 0 };
}

/** API servers refuse objects of more than about 1.5 MB; the rest of the status needs its share. */
const maxShownBytes = 1_000_000;

/**
 * The inventory as `status.inventory` shows it: what is only planned, or going, is not in it. Of a very large one as much
 * as an object can hold: ours is whole, and by a shorter list Flux would only prune less.
 *
 * @param before what the status shows until now: what Flux or a lost table has left there stays until it is applied or pruned
 */
export function statusInventory(
  entries: readonly InventoryEntry[],
  before: KustomizationStatus["inventory"],
): NonNullable<KustomizationStatus["inventory"]> {
  const shownBefore = new Set((before?.entries ?? []).map(({ id }) => id));
  const shown: { id: string; v: string }[] = [];
  let bytes = 0;
  for (const { id, version, state } of entries) {
    if (state !== "live" && !(state === "planned" && shownBefore.has(id))) continue;
    bytes += id.length + version.length + '{"id":"","v":""},'.length;
    if (bytes > maxShownBytes) break;
    shown.push({ id, v: version });
  }
  return { entries: shown };
}
