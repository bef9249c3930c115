import { describe, expect, test } from "vitest";
import { emptiedWarning } from "../../../lib/apply/plan.ts";
import type { PruneDecision } from "../../../lib/apply/prune/decisions.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";

const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "t", name: "new" };
const entry = (name: string, state: InventoryEntry["state"] = "live"): PruneDecision => {
  const metadata = { name, namespace: "t" };
  const checked = { ref: { group: "", version: "v1", kind: "ConfigMap", namespace: "t", name }, metadata };
  const isTerminating = state === "deleting";
  return { kind: "delete", entry: { id: `t_${name}__ConfigMap`, version: "v1", state }, checked, isTerminating };
};
const movesTo = (owner: string): PruneDecision => ({
  kind: "handOver",
  entry: entry("moved").entry,
  why: "",
  to: { owner, claimant: undefined },
  checked: { ref: { ...ref, name: "moved" }, metadata: { name: "moved" } },
});
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "new", namespace: "t" } };
const wanted = {
  desired: { id: "t_new__ConfigMap", ref, manifest, digest: "d", resource: undefined },
  change: { kind: "create" },
} as const;

describe("the Warning about a revision without objects", () => {
  test.each([
    { name: "one object is pruned", prune: [entry("a")], named: "ConfigMap/t/a" },
    {
      name: "many go",
      prune: ["a", "b", "c", "d", "e"].map((each) => entry(each)),
      named: "ConfigMap/t/a, ConfigMap/t/b, ConfigMap/t/c and 2 more",
    },
    {
      name: "some objects are terminating already",
      prune: [entry("a", "deleting"), entry("b")],
      named: "ConfigMap/t/b",
    },
  ])("$name", ({ prune, named }) => {
    expect(emptiedWarning({ objects: [], prune })).toBe(
      `no objects in this revision: pruning all that there are, ${named}`,
    );
  });

  test.each([
    { name: "an object is wanted", plan: { objects: [wanted], prune: [entry("a")] } },
    { name: "there is nothing to prune", plan: { objects: [], prune: [] } },
    { name: "all objects move to another owner", plan: { objects: [], prune: [movesTo("Kustomization/t/b")] } },
    { name: "all objects are terminating already", plan: { objects: [], prune: [entry("a", "deleting")] } },
  ])("is not sent if $name", ({ plan }) => {
    expect(emptiedWarning(plan)).toBeUndefined();
  });
});
