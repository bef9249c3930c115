import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";

type Shown = NonNullable<KustomizationStatus["inventory"]>["entries"][number];

/** API servers refuse objects of more than about 1.5 MB; the rest of the status needs its share. */
export const maxShownBytes = 1_000_000;

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

/** Whether there may be more than what a status shows: then nothing follows from what it does not show. */
export function mayBeShortened(shown: readonly Shown[]): boolean {
  return shown.reduce((bytes, line) => bytes + bytesOf(line), 0) > maxShownBytes - maxEntryBytes;
}

function bytesOf({ id, v }: Shown): number {
  return id.length + v.length + '{"id":"","v":""},'.length;
}
