import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  arrangePages,
  emptyPage,
  entriesOfPages,
  pageCount,
  pageOf,
  placeEntries,
} from "../../../lib/apply/inventory-pages.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";

function entriesOf(ids: readonly string[]): InventoryEntry[] {
  return ids.map((id) => ({ id, version: "v1", state: "live" }));
}

function ranksOf(placed: readonly { id: string; rank: number }[]): Map<string, number> {
  return new Map(placed.map(({ id, rank }) => [id, rank]));
}

const someIds = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 30 });

describe("the ranks of inventory entries", () => {
  test("rise in the order given, whatever the ranks were before", () => {
    fc.assert(
      fc.property(someIds, someIds, (before, after) => {
        const placed = placeEntries(entriesOf(after), ranksOf(placeEntries(entriesOf(before), new Map())));
        expect(placed.map(({ id }) => id)).toEqual(after);
        const ranks = placed.map(({ rank }) => rank);
        expect(ranks.every((rank, index) => index === 0 || rank > (ranks[index - 1] ?? rank))).toBe(true);
        expect(ranks.every(Number.isSafeInteger)).toBe(true);
      }),
    );
  });

  test("stay for entries that keep their order while others are added and removed", () => {
    fc.assert(
      fc.property(someIds, fc.func(fc.boolean()), someIds, (before, isKept, added) => {
        const ranks = ranksOf(placeEntries(entriesOf(before), new Map()));
        const kept = before.filter((id) => isKept(id));
        const isNew = new Set(before);
        const after = [...kept, ...added.filter((id) => !isNew.has(id))];
        const placed = ranksOf(placeEntries(entriesOf(after), ranks));
        expect(kept.map((id) => placed.get(id))).toEqual(kept.map((id) => ranks.get(id)));
      }),
    );
  });

  test("change only for the moved entry if one of many moves to the front", () => {
    const ids = Array.from({ length: 1_000 }, (_, number) => `id-${number}`);
    const ranks = ranksOf(placeEntries(entriesOf(ids), new Map()));
    const moved = placeEntries(entriesOf(["id-999", ...ids.slice(0, -1)]), ranks);
    expect(moved.filter(({ id, rank }) => ranks.get(id) !== rank).map(({ id }) => id)).toEqual(["id-999"]);
  });

  test("are all assigned again if no number is left between two neighbours", () => {
    const ranks = new Map([
      ["a", 1],
      ["c", 2],
    ]);
    const placed = placeEntries(entriesOf(["a", "b", "c"]), ranks);
    expect(placed.map(({ rank }) => rank)).toEqual([65_536, 131_072, 196_608]);
  });
});

describe("the pages of an inventory", () => {
  test.each([
    { entries: 0, before: 0, count: 1 },
    { entries: 128, before: 0, count: 1 },
    { entries: 129, before: 1, count: 2 },
    { entries: 20_000, before: 1, count: 256 },
    { entries: 100, before: 4, count: 4 },
    { entries: 40, before: 4, count: 2 },
    { entries: 0, before: 256, count: 1 },
  ])("$entries entries on $before pages before need $count", ({ entries, before, count }) => {
    expect(pageCount(entries, before)).toBe(count);
  });

  test.each([
    { id: "", hash: 0x811c9dc5 },
    { id: "a", hash: 0xe40c292c },
    { id: "foobar", hash: 0xbf9cf968 },
  ])("the page of '$id' comes from its published FNV-1a hash, so it never changes", ({ id, hash }) => {
    expect(pageOf(id, 2 ** 32)).toBe(hash);
    expect(pageOf(id, 256)).toBe(hash % 256);
  });

  test("ids are spread evenly over the pages", () => {
    const counts = Array.from({ length: 16 }, () => 0);
    for (let number = 0; number < 1_600; number++) {
      const page = pageOf(`apps_config-${number}__ConfigMap`, 16);
      counts[page] = (counts[page] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(50);
    expect(Math.max(...counts)).toBeLessThan(150);
  });
});

const full: InventoryEntry = { id: "a", version: "v1", uid: "u", desired: "d", fingerprint: "f", state: "live" };
const many = Array.from({ length: 300 }, (_, index): InventoryEntry => ({ ...full, id: `${index}` }));

describe("the texts of inventory pages", () => {
  test("contain the entries in the order given, with all their fields", () => {
    const planned: InventoryEntry = { id: "b", version: "v1", state: "planned" };
    expect(entriesOfPages(arrangePages([planned, full], []))).toEqual([planned, full]);
    expect(entriesOfPages(arrangePages(many, []))).toEqual(many);
    expect(arrangePages(many, []).length).toBeGreaterThan(1);
  });

  test("without entries are a constant text that a store need not keep", () => {
    expect(arrangePages([], [])).toEqual([emptyPage]);
  });

  test("stay the same except for one page if one entry is inserted", () => {
    const before = arrangePages(many, []);
    const after = arrangePages([...many.slice(0, 7), { ...full, id: "new" }, ...many.slice(7)], before);
    expect(after.filter((text, index) => text !== before[index])).toHaveLength(1);
  });

  test.each([
    { name: "invalid JSON", text: "[", says: "JSON" },
    {
      name: "a state of another release",
      text: '[{"id":"a","version":"v1","state":"gone","rank":1}]',
      says: "state",
    },
    {
      name: "a field of another release",
      text: '[{"id":"a","version":"v1","state":"live","rank":1,"more":2}]',
      says: "more",
    },
    { name: "an entry without a rank", text: '[{"id":"a","version":"v1","state":"live"}]', says: "rank" },
  ])("with $name are rejected", ({ text, says }) => {
    expect(() => entriesOfPages([text])).toThrow(says);
  });
});
