import { describe, expect, test } from "vitest";
import { unwantedOf } from "../../../../lib/apply/prune/gather-facts.ts";
import { withoutPruned } from "../../../../lib/apply/prune/pruned.ts";
import type { InventoryEntry } from "../../../../lib/core/ports/inventory-store.ts";

const entry = (name: string, state: InventoryEntry["state"] = "live"): InventoryEntry => ({
  id: `t_${name}__ConfigMap`,
  version: "v1",
  state,
});

describe("the inventory of unwanted objects", () => {
  test.each([
    { name: "one dropped", before: ["a", "b"], after: ["a"], gone: ["b"] },
    { name: "nothing before", before: [], after: ["a"], gone: [] },
    { name: "all dropped", before: ["a", "b"], after: [], gone: ["a", "b"] },
  ])("lists the prune candidates: $name", ({ before, after, gone }) => {
    const known = before.map((name) => entry(name));
    expect(
      unwantedOf(
        known,
        after.map((name) => entry(name)),
      ),
    ).toEqual(gone.map((name) => entry(name)));
  });

  test("never lists an object that prune: false kept as a candidate", () => {
    expect(unwantedOf([entry("a", "retained")], [])).toEqual([]);
  });

  test("drops objects that are gone or another owner's, remembers held and protected ones, keeps refused ones (99)", () => {
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

  test("keeps an object that is being handed over, with all its fields", () => {
    const moving = { ...entry("a"), uid: "u", desired: "d", fingerprint: "f" };
    const pending = { kind: "pending", entry: moving, why: "", to: "" } as const;
    expect(withoutPruned([moving], [pending])).toEqual([{ ...moving, state: "planned" }]);
  });
});
