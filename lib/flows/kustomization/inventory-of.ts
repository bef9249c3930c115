import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { parseEntryId } from "../../apply/entry-id.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/**
 * What the Kustomization has in the cluster: our own inventory, or where there is none (objects that Flux applied, or a
 * lost table) what its status says. Adopted entries count as planned: they have no uid, so prune asks for our managed-fields
 * entry too, and the ledger does not know them yet.
 */
export async function inventoryOf(of: SubjectOfRun): Promise<readonly InventoryEntry[]> {
  const saved = await of.deps.inventories.load(of.owner, of.run.fence, of.run.signal);
  return saved ?? (of.kustomization.status.inventory?.entries ?? []).map(({ id, v }) => adopted(id, v));
}

function adopted(id: string, version: string): InventoryEntry {
  try {
    parseEntryId(id);
  } catch (error) {
    throw new Failure("ReconciliationFailed", messageOf(error), { cause: error });
  }
  return { id, version, state: "planned" };
}

/** API servers refuse objects of more than about 1.5 MB; the rest of the status needs its share. */
const maxShownBytes = 1_000_000;

/**
 * The inventory as `status.inventory` shows it: what is only planned, or going, is not in it. Of a very large one as much
 * as an object can hold: ours is whole, and by a shorter list Flux would only prune less.
 */
export function statusInventory(entries: readonly InventoryEntry[]): NonNullable<KustomizationStatus["inventory"]> {
  const shown: { id: string; v: string }[] = [];
  let bytes = 0;
  for (const { id, version, state } of entries) {
    if (state !== "live") continue;
    bytes += id.length + version.length + '{"id":"","v":""},'.length;
    if (bytes > maxShownBytes) break;
    shown.push({ id, v: version });
  }
  return { entries: shown };
}
