import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KustomizationStatus } from "../../../lib/api/kustomization-status.ts";
import { adoptedEntries, isOlderInventory } from "../../../lib/apply/status-inventory.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";

const known = (name: string, state: InventoryEntry["state"] = "live"): InventoryEntry => ({
  id: `t_${name}__ConfigMap`,
  version: "v1",
  uid: "u",
  state,
});
const shown = (name: string) => ({ id: `t_${name}__ConfigMap`, v: "v1" });
const adopted = (name: string) => ({ id: `t_${name}__ConfigMap`, version: "v1", state: "planned" });

describe("inventory entries that only the status lists", () => {
  test.each([
    { name: "all is known", before: [known("a")], status: [shown("a")], entries: [] },
    { name: "nothing is stored", before: [], status: [shown("a"), shown("b")], entries: [adopted("a"), adopted("b")] },
    { name: "one is known", before: [known("a")], status: [shown("a"), shown("b")], entries: [adopted("b")] },
    { name: "the status shows less", before: [known("a"), known("b")], status: [shown("b")], entries: [] },
    { name: "it is retained", before: [known("a", "retained")], status: [shown("a")], entries: [] },
    { name: "it is being deleted", before: [known("a", "deleting")], status: [shown("a")], entries: [] },
    { name: "it is named twice", before: [], status: [shown("a"), shown("a")], entries: [adopted("a")] },
  ])("$name", ({ before, status, entries }) => {
    expect(adoptedEntries(before, status)).toEqual({ entries, unreadable: [] });
  });

  test("an id that cannot be parsed is returned separately", () => {
    expect(adoptedEntries([], [{ id: "no-id", v: "v1" }, shown("a")])).toEqual({
      entries: [adopted("a")],
      unreadable: ["no-id"],
    });
  });

  test("the union contains each readable id once", () => {
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

const inventory = { entries: [{ id: "apps_a__ConfigMap", v: "v1" }] };
/** Lists of about this many bytes: of 998,900 the whole, of 999,100 possibly cut off. */
const entries = (bytes: number) => Array.from({ length: bytes / 100 }, () => ({ id: "x".repeat(81), v: "v1" }));

describe("an inventory is older than the status", () => {
  const cases: readonly {
    readonly name: string;
    readonly savedUnder: number | undefined;
    readonly status: KustomizationStatus;
    readonly isOlder: boolean;
  }[] = [
    {
      name: "saved under an earlier generation",
      savedUnder: 1,
      status: { observedGeneration: 2, inventory },
      isOlder: true,
    },
    { name: "saved under the same", savedUnder: 2, status: { observedGeneration: 2, inventory }, isOlder: false },
    { name: "saved ahead of the status", savedUnder: 3, status: { observedGeneration: 2, inventory }, isOlder: false },
    {
      name: "saved by an earlier release",
      savedUnder: undefined,
      status: { observedGeneration: 2, inventory },
      isOlder: false,
    },
    { name: "a status that was never reconciled", savedUnder: 1, status: { inventory }, isOlder: false },
    { name: "a status without an inventory", savedUnder: 1, status: { observedGeneration: 2 }, isOlder: false },
    {
      name: "a generation that the object never had",
      savedUnder: 1,
      status: { observedGeneration: 4, inventory },
      isOlder: false,
    },
    {
      name: "a status that has room for more",
      savedUnder: 1,
      status: { observedGeneration: 2, inventory: { entries: entries(998_900) } },
      isOlder: true,
    },
    {
      name: "a status that may be cut off",
      savedUnder: 1,
      status: { observedGeneration: 2, inventory: { entries: entries(999_100) } },
      isOlder: false,
    },
  ];
  test.for(cases)("$name: $isOlder", ({ savedUnder, status, isOlder }) => {
    expect(isOlderInventory(savedUnder, status, 3)).toBe(isOlder);
  });
});
