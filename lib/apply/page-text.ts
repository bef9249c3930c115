import { z } from "zod";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import { type PlacedEntry, pageCount, pageOf, placeEntries } from "./inventory-pages.ts";

/** The text of a page without entries; a store need not keep it. */
export const emptyPage = "[]";

const StoredPage = z.array(
  z.strictObject({
    id: z.string(),
    version: z.string(),
    uid: z.string().exactOptional(),
    desired: z.string().exactOptional(),
    fingerprint: z.string().exactOptional(),
    state: z.enum(["planned", "live", "deleting", "retained"]),
    rank: z.number(),
  }),
);

/**
 * The texts of the pages that hold these entries, given those that held the entries before: equal texts need not be
 * written again. Pure.
 */
export function arrangePages(entries: readonly InventoryEntry[], before: readonly string[]): readonly string[] {
  const ranks = new Map(before.flatMap(parsePage).map((entry) => [entry.id, entry.rank]));
  const count = pageCount(entries.length, before.length);
  const pages: PlacedEntry[][] = Array.from({ length: count }, () => []);
  for (const entry of placeEntries(entries, ranks)) pages[pageOf(entry.id, count)]?.push(entry);
  return pages.map(formatPage);
}

/** The entries that these pages hold, in the order they were given in. Throws where a text is no page. */
export function entriesOfPages(pages: readonly string[]): readonly InventoryEntry[] {
  const placed = pages.flatMap(parsePage);
  return placed.toSorted((a, b) => a.rank - b.rank).map(({ rank: _rank, ...entry }) => entry);
}

/** Always the same fields in the same order, so that equal pages have equal texts. */
function formatPage(entries: readonly PlacedEntry[]): string {
  const ordered = entries.map(({ id, version, uid, desired, fingerprint, state, rank }) => {
    return { id, version, uid, desired, fingerprint, state, rank };
  });
  return JSON.stringify(ordered);
}

function parsePage(text: string): readonly PlacedEntry[] {
  return StoredPage.parse(JSON.parse(text));
}
