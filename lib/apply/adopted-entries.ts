import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import { readEntryId } from "./entry-id.ts";

/** What of a status is not in our own inventory. */
export interface Adopted {
  /** As planned: without a uid, so that prune asks for our managed-fields entry as well as for our labels. */
  readonly entries: readonly InventoryEntry[];
  /** Ids that are none. */
  readonly unreadable: readonly string[];
}

/** The entries that only a status knows, each once. What our own inventory says of an id counts more. Pure. */
export function adoptedEntries(
  known: readonly InventoryEntry[],
  shown: readonly { readonly id: string; readonly v: string }[],
): Adopted {
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
