import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { adoptedEntries } from "../../../lib/apply/adopted-entries.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";

const known = (name: string, state: InventoryEntry["state"] = "live"): InventoryEntry => ({
  id: `t_${name}__ConfigMap`,
  version: "v1",
  uid: "u",
  state,
});
const shown = (name: string) => ({ id: `t_${name}__ConfigMap`, v: "v1" });
const adopted = (name: string) => ({ id: `t_${name}__ConfigMap`, version: "v1", state: "planned" });

describe("what only a status knows", () => {
  test.each([
    { name: "all is known", before: [known("a")], status: [shown("a")], entries: [] },
    { name: "nothing is known", before: [], status: [shown("a"), shown("b")], entries: [adopted("a"), adopted("b")] },
    { name: "one is known", before: [known("a")], status: [shown("a"), shown("b")], entries: [adopted("b")] },
    { name: "the status shows less", before: [known("a"), known("b")], status: [shown("b")], entries: [] },
    { name: "it was told to stay", before: [known("a", "retained")], status: [shown("a")], entries: [] },
    { name: "it is being deleted", before: [known("a", "deleting")], status: [shown("a")], entries: [] },
    { name: "it is named twice", before: [], status: [shown("a"), shown("a")], entries: [adopted("a")] },
  ])("$name", ({ before, status, entries }) => {
    expect(adoptedEntries(before, status)).toEqual({ entries, unreadable: [] });
  });

  test("what is no id is told apart", () => {
    expect(adoptedEntries([], [{ id: "no-id", v: "v1" }, shown("a")])).toEqual({
      entries: [adopted("a")],
      unreadable: ["no-id"],
    });
  });

  test("no id is in the union twice, and all readable ones are in it", () => {
    const names = fc.array(fc.constantFrom("a", "b", "c", "d"));
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom("a", "b", "c", "d")), names, (before, status) => {
        const own = before.map((name) => known(name));
        const ids = [...own, ...adoptedEntries(own, status.map(shown)).entries].map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.toSorted()).toEqual([...new Set([...before, ...status])].map((name) => known(name).id).toSorted());
      }),
    );
  });
});
