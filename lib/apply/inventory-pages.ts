import { z } from "zod";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";

/** An entry and its rank: pages are by hash, so the order of the whole is kept by numbers. */
export interface PlacedEntry extends InventoryEntry {
  readonly rank: number;
}

/** Entries that one page holds on average before the number of pages doubles; about 40 KB. */
const maxPerPage = 128;
/** The gap between two entries, for new ones; 20,000 entries stay far within exact integers. */
const gap = 65_536;

/**
 * Gives each entry a rank, rising in the order given. An entry keeps its rank if possible, so that adding or dropping one object changes
 * one page. Ids are unique. Pure.
 */
export function placeEntries(
  entries: readonly InventoryEntry[],
  ranksBefore: ReadonlyMap<string, number>,
): readonly PlacedEntry[] {
  const kept = longestRise(entries.map(({ id }) => ranksBefore.get(id)));
  const ranks = fillBetween(kept) ?? kept.map((_, index) => (index + 1) * gap);
  return entries.map((entry, index) => ({ ...entry, rank: ranks[index] ?? 0 }));
}

/** How many pages so many entries need: a power of two, and changed only when it is far off, since a change rewrites all. */
export function pageCount(entries: number, before: number): number {
  let count = Math.max(1, before);
  while (entries > count * maxPerPage) count *= 2;
  while (count > 1 && entries < (count * maxPerPage) / 8) count /= 2;
  return count;
}

/** The page of an entry: FNV-1a of its id. Fixed for good, since stored pages depend on it. */
export function pageOf(id: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % count;
}

/** The values of a longest strictly rising subsequence where they stand, undefined elsewhere. */
function longestRise(values: readonly (number | undefined)[]): (number | undefined)[] {
  // ends[n] is where the rise of n + 1 values with the smallest last value ends; previous links each value to the one before.
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[ends[middle] ?? 0] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    previous[index] = low === 0 ? undefined : ends[low - 1];
    ends[low] = index;
  }
  const kept = Array.from<number | undefined>({ length: values.length });
  for (let index = ends.at(-1); index !== undefined; index = previous[index]) kept[index] = values[index];
  return kept;
}

/** Numbers for the gaps, evenly between their neighbours; undefined if a gap is full. */
function fillBetween(kept: readonly (number | undefined)[]): number[] | undefined {
  const ranks: number[] = [];
  for (let start = 0; start < kept.length; ) {
    let end = start;
    while (end < kept.length && kept[end] === undefined) end++;
    const missing = end - start;
    const right = kept[end];
    const left = ranks.at(-1) ?? (right === undefined ? 0 : right - (missing + 1) * gap);
    const step = right === undefined ? gap : Math.floor((right - left) / (missing + 1));
    if (missing > 0 && step < 1) return undefined;
    for (let nth = 1; nth <= missing; nth++) ranks.push(left + nth * step);
    if (right !== undefined) ranks.push(right);
    start = end + 1;
  }
  return ranks;
}

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

/** The texts of the pages for these entries, given the pages of the entries before: equal texts need not be written again. Pure. */
export function arrangePages(entries: readonly InventoryEntry[], before: readonly string[]): readonly string[] {
  const ranks = new Map(before.flatMap(parsePage).map((entry) => [entry.id, entry.rank]));
  const count = pageCount(entries.length, before.length);
  const pages: PlacedEntry[][] = Array.from({ length: count }, () => []);
  for (const entry of placeEntries(entries, ranks)) pages[pageOf(entry.id, count)]?.push(entry);
  return pages.map(formatPage);
}

/** The entries of these pages, in their original order. Throws if a text is not a page. */
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
