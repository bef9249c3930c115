import { describe, expect, test } from "vitest";
import { arrangePages, emptyPage, entriesOfPages } from "../../../lib/apply/page-text.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";

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

  test("are the same, but for one page, where one entry comes in between", () => {
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
