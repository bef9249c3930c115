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

describe("the places of inventory entries", () => {
  test("ranks rise in the order given, whatever the ranks were before", () => {
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

  test("entries that stay in their order keep their ranks when others come and go", () => {
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

  test("moving one of many to the front gives a new rank to that one only", () => {
    const ids = Array.from({ length: 1_000 }, (_, number) => `id-${number}`);
    const ranks = ranksOf(placeEntries(entriesOf(ids), new Map()));
    const moved = placeEntries(entriesOf(["id-999", ...ids.slice(0, -1)]), ranks);
    expect(moved.filter(({ id, rank }) => ranks.get(id) !== rank).map(({ id }) => id)).toEqual(["id-999"]);
  });

  test("where no number is left between two neighbours all ranks are made anew", () => {
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
  ])("the page of '$id' comes from its published FNV-1a hash, so it is the same for good", ({ id, hash }) => {
    expect(pageOf(id, 2 ** 32)).toBe(hash);
    expect(pageOf(id, 256)).toBe(hash % 256);
  });

  test("ids spread evenly", () => {
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

describe("the texts of an inventory's pages", () => {
  test("hold the entries in the order that they were given in, with all that is known of them", () => {
    const planned: InventoryEntry = { id: "b", version: "v1", state: "planned" };
    expect(entriesOfPages(arrangePages([planned, full], []))).toEqual([planned, full]);
    expect(entriesOfPages(arrangePages(many, []))).toEqual(many);
    expect(arrangePages(many, []).length).toBeGreaterThan(1);
  });

  test("of pages without entries are the text that no store need keep", () => {
    expect(arrangePages([], [])).toEqual([emptyPage]);
  });

  test("are the same, except for one page, if one entry comes in between", () => {
    const before = arrangePages(many, []);
    const after = arrangePages([...many.slice(0, 7), { ...full, id: "new" }, ...many.slice(7)], before);
    expect(after.filter((text, index) => text !== before[index])).toHaveLength(1);
  });

  test.each([
    { name: "is no JSON", text: "[", says: "JSON" },
    {
      name: "has a state of another release",
      text: '[{"id":"a","version":"v1","state":"gone","rank":1}]',
      says: "state",
    },
    {
      name: "has a field of another release",
      text: '[{"id":"a","version":"v1","state":"live","rank":1,"more":2}]',
      says: "more",
    },
    { name: "has an entry without a rank", text: '[{"id":"a","version":"v1","state":"live"}]', says: "rank" },
  ])("that $name is none", ({ text, says }) => {
    expect(() => entriesOfPages([text])).toThrow(says);
  });
});
