import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { AppliedObject } from "./apply-object.ts";
import type { DesiredObject } from "./desired-objects.ts";

/**
 * The inventory to save before the first write: all that was there and all that is about to be. A run killed at any point
 * after that leaves nothing that the next run cannot find. Undefined where it would say nothing new.
 */
export function inventoryAhead(
  before: readonly InventoryEntry[],
  desired: readonly DesiredObject[],
): readonly InventoryEntry[] | undefined {
  const known = new Map(before.map((entry) => [entry.id, entry]));
  const planned = desired
    .filter(({ id }) => !known.has(id) || known.get(id)?.state === "retained")
    .map(({ id, ref }): InventoryEntry => ({ id, version: ref.version, state: "planned" }));
  if (planned.length === 0) return undefined;
  const ids = new Set(planned.map(({ id }) => id));
  return [...before.filter(({ id }) => !ids.has(id)), ...planned];
}

/** The inventory with what a run has applied in place of what was known of it; everything else stays. */
export function withApplied(
  before: readonly InventoryEntry[],
  applied: readonly AppliedObject[],
): readonly InventoryEntry[] {
  const ids = new Set(applied.map(({ entry }) => entry.id));
  return [...applied.map(({ entry }) => entry), ...before.filter(({ id }) => !ids.has(id))];
}
