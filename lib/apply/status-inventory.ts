import type { KustomizationStatus } from "../api/kustomization-status.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import { readEntryId } from "./set/entry-id.ts";

/** `status.inventory` as Flux shows it. */
export type StatusInventory = NonNullable<KustomizationStatus["inventory"]>;
type Shown = StatusInventory["entries"][number];

/** API servers refuse objects of more than about 1.5 MB. The rest of the status needs its share. */
export const maxShownBytes = 1_000_000;

/**
 * The inventory as `status.inventory` shows it, without the entries that are only planned or are being deleted. A very large inventory is
 * cut to what an object can hold: the saved inventory is complete, and with a shorter list Flux only prunes less.
 *
 * @param before the inventory in the present status: entries that Flux or a lost table left there stay until they are applied or pruned
 */
export function statusInventory(
  entries: readonly InventoryEntry[],
  before: StatusInventory | undefined,
): StatusInventory {
  const shownBefore = new Set((before?.entries ?? []).map(({ id }) => id));
  const shown: Shown[] = [];
  let bytes = 0;
  for (const { id, version, state } of entries) {
    if (state !== "live" && !(state === "planned" && shownBefore.has(id))) continue;
    const line = { id, v: version };
    bytes += bytesOf(line);
    if (bytes > maxShownBytes) break;
    shown.push(line);
  }
  return { entries: shown };
}

/** More than the longest entry: names have up to 253 characters, kinds and namespaces up to 63. */
const maxEntryBytes = 1_000;

/** Whether the inventory may have more entries than the status shows. Then an entry that is not shown says nothing. */
function mayBeShortened(shown: readonly Shown[]): boolean {
  return shown.reduce((bytes, line) => bytes + bytesOf(line), 0) > maxShownBytes - maxEntryBytes;
}

function bytesOf({ id, v }: Shown): number {
  return id.length + v.length + '{"id":"","v":""},'.length;
}

/**
 * Whether the saved inventory is older than the status: the status names a generation as reconciled that the inventory was never saved
 * under. Each of our runs saves the inventory before the status, so either the state was restored from a backup or Flux ran meanwhile.
 * False if that is unknown: the inventory has no generation (an earlier release saved it), the status shows no inventory or a part of it,
 * or it names a generation that the object does not have. Pure.
 */
export function isOlderInventory(
  savedUnder: number | undefined,
  { observedGeneration, inventory }: Pick<KustomizationStatus, "observedGeneration" | "inventory">,
  generation: number,
): boolean {
  if (savedUnder === undefined || observedGeneration === undefined || inventory === undefined) return false;
  if (observedGeneration > generation || mayBeShortened(inventory.entries)) return false;
  return savedUnder < observedGeneration;
}

/** The entries of a status that are not in the saved inventory. */
export interface Adopted {
  /** As planned: without a uid, so that a prune asks for our managed-fields entry as well as for our labels. */
  readonly entries: readonly InventoryEntry[];
  /** Ids that cannot be parsed. */
  readonly unreadable: readonly string[];
}

/** The entries that only the status has, each once. For an id that both have, the saved inventory counts. Pure. */
export function adoptedEntries(known: readonly InventoryEntry[], shown: readonly Shown[]): Adopted {
  const ids = new Set(known.map(({ id }) => id));
  const entries: InventoryEntry[] = [];
  const unreadable: string[] = [];
  for (const { id, v } of shown) {
    if (ids.has(id)) continue;
    ids.add(id);
    if (readEntryId(id) !== undefined) entries.push({ id, version: v, state: "planned" });
    else unreadable.push(id);
  }
  return { entries, unreadable };
}
