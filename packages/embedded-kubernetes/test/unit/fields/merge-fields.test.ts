import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeFields } from "../../../src/fields/merge-fields.ts";
import type { TypeSchema } from "../../../src/schema/type-schema.ts";

const set: TypeSchema = { type: "array", items: { type: "string" }, listType: "set" };
const unique = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 5 });

describe("mergeFields", () => {
  test.each([
    { live: ["b", "a"], applied: ["c", "a"], merged: ["b", "c", "a"] },
    { live: ["a", "b"], applied: ["b", "a"], merged: ["b", "a"] },
    { live: ["a", "x", "b"], applied: ["b", "a"], merged: ["x", "b", "a"] },
    { live: ["x", "y"], applied: ["a"], merged: ["x", "y", "a"] },
    { live: ["a", "x"], applied: ["n", "a"], merged: ["n", "a", "x"] },
  ])("live $live and applied $applied give $merged", ({ live, applied, merged }) => {
    expect(mergeFields(live, applied, set)).toEqual(merged);
  });

  test("applied items are in applied order, live-only ones in live order, none lost or duplicated", () => {
    fc.assert(
      fc.property(unique, unique, (live, applied) => {
        const merged: unknown = mergeFields(live, applied, set) ?? [];
        const liveOnly = live.filter((item) => !applied.includes(item));
        expect(merged).toHaveLength(liveOnly.length + applied.length);
        expect(live.length + applied.length === 0 || inOrder(merged, applied)).toBe(true);
        expect(live.length + applied.length === 0 || inOrder(merged, liveOnly)).toBe(true);
      }),
    );
  });

  test("merging twice gives the same as merging once", () => {
    fc.assert(
      fc.property(unique, unique, (live, applied) => {
        const once = mergeFields(live, applied, set);
        expect(mergeFields(once, applied, set)).toEqual(once);
      }),
    );
  });

  test("values that the applied value does not change are kept by reference", () => {
    const open: TypeSchema = { type: "object" };
    const live = { kept: { a: "1" }, changed: { a: "1" } };
    const merged = mergeFields(live, { kept: { a: "1" }, changed: { a: "2" } }, open);
    expect(merged).toEqual({ kept: { a: "1" }, changed: { a: "2" } });
    expect(mergeFields(live, { kept: { a: "1" } }, open)).toBe(live);
  });
});

function inOrder(list: unknown, items: readonly string[]): boolean {
  const places = items.map((item) => (Array.isArray(list) ? list.indexOf(item) : -1));
  return places.every((place, index) => place >= 0 && place > (places[index - 1] ?? -1));
}
