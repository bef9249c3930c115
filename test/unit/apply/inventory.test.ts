import { describe, expect, test } from "vitest";
import { inventoryAhead, withApplied } from "../../../lib/apply/inventory.ts";
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

describe("the inventory during a run", () => {
  test("before the first write lists old and planned entries; if there is nothing new, it is not written", () => {
    expect(inventoryAhead([entry("a"), entry("b")], [desired("b"), desired("c")])).toEqual([
      entry("a"),
      entry("b"),
      entry("c", "planned"),
    ]);
    expect(inventoryAhead([entry("a")], [desired("a")])).toBeUndefined();
    expect(inventoryAhead([entry("a", "retained")], [desired("a")])).toEqual([entry("a", "planned")]);
  });

  test("replaces planned entries by applied ones, and keeps the rest", () => {
    const applied = { ...entry("b"), uid: "u", desired: "d", fingerprint: "f" };
    const change = "created" as const;
    expect(
      withApplied([entry("a"), entry("b", "planned")], [{ desired: desired("b"), change, entry: applied }]),
    ).toEqual([applied, entry("a")]);
  });
});
