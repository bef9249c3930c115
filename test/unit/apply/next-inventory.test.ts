import { describe, expect, test } from "vitest";
import { inventoryAhead, withApplied, withoutPruned } from "../../../lib/apply/next-inventory.ts";
import { stale } from "../../../lib/apply/stale.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";

const entry = (name: string, state: InventoryEntry["state"] = "live"): InventoryEntry => ({
  id: `t_${name}__ConfigMap`,
  version: "v1",
  state,
});
const desired = (name: string) => {
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "t", name };
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "t" } };
  return { id: entry(name).id, ref, manifest, digest: "d", resource: undefined };
};

describe("the inventory over a run", () => {
  test.each([
    { name: "one dropped", before: ["a", "b"], after: ["a"], gone: ["b"] },
    { name: "nothing before", before: [], after: ["a"], gone: [] },
    { name: "everything dropped", before: ["a", "b"], after: [], gone: ["a", "b"] },
  ])("stale: $name", ({ before, after, gone }) => {
    const wanted = new Set(after.map((name) => entry(name).id));
    expect(
      stale(
        before.map((name) => entry(name)),
        wanted,
      ),
    ).toEqual(gone.map((name) => entry(name)));
  });

  test("what was kept by prune: false is never stale", () => {
    expect(stale([entry("a", "retained")], new Set())).toEqual([]);
  });

  test("ahead of the first write it holds the old and the planned; with nothing new it is not written", () => {
    expect(inventoryAhead([entry("a"), entry("b")], [desired("b"), desired("c")])).toEqual([
      entry("a"),
      entry("b"),
      entry("c", "planned"),
    ]);
    expect(inventoryAhead([entry("a")], [desired("a")])).toBeUndefined();
    expect(inventoryAhead([entry("a", "retained")], [desired("a")])).toEqual([entry("a", "planned")]);
  });

  test("what was applied replaces what was planned, the rest stays", () => {
    const applied = { ...entry("b"), uid: "u", desired: "d", fingerprint: "f" };
    const change = "created" as const;
    expect(
      withApplied([entry("a"), entry("b", "planned")], [{ desired: desired("b"), change, entry: applied }]),
    ).toEqual([applied, entry("a")]);
  });

  test("what is gone or another's leaves, what a finalizer holds or a mark keeps is remembered, what was refused stays (99)", () => {
    const before = [entry("gone"), entry("held"), entry("refused"), entry("theirs"), entry("marked"), entry("other")];
    const pruned = [
      { kind: "deleted", entry: entry("gone"), held: false },
      { kind: "deleted", entry: entry("held"), held: true },
      { kind: "refused", entry: entry("refused"), message: "no" },
      { kind: "skipped", entry: entry("theirs"), why: "theirs", isMarked: false },
      { kind: "skipped", entry: entry("marked"), why: "marked", isMarked: true },
    ] as const;
    const held = entry("held", "deleting");
    const after = [held, entry("refused"), entry("marked", "retained"), entry("other")];
    expect(withoutPruned(before, pruned)).toEqual(after);
  });
});
