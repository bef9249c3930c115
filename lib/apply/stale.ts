import type { InventoryEntry } from "../core/ports/inventory-store.ts";

/** Objects applied last time and absent now: the prune candidates, in inventory order. Pure. */
export function stale(before: readonly InventoryEntry[], wantedIds: ReadonlySet<string>): InventoryEntry[] {
  return before.filter(({ id, state }) => state !== "retained" && !wantedIds.has(id));
}
