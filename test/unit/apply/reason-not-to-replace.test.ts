import { describe, expect, test } from "vitest";
import { kustomizeGroup, ownerLabels } from "../../../lib/api/names.ts";
import { reasonNotToReplace } from "../../../lib/apply/reason-not-to-replace.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";

const { signal } = new AbortController();
const owner = { kind: "Kustomization", name: "app", namespace: "team" };
const planned: InventoryEntry = { id: "i", version: "v1", state: "planned" };
const leftAlone: InventoryEntry = { ...planned, uid: "u", state: "live" };
const applied: InventoryEntry = { ...leftAlone, fingerprint: "f", desired: "d" };
const label = (key: string) => `${kustomizeGroup}/${key}`;

const mine = ownerLabels(owner);
const theirs = ownerLabels({ name: "app", namespace: "other" });
const notOurs = "it was not applied by this Kustomization and does not carry its labels";

describe("an object in the way of its successor", () => {
  test.each<{
    what: string;
    labels?: Record<string, string>;
    entry?: InventoryEntry;
    claimedBy?: string;
    why: string | undefined;
  }>([
    { what: "with our labels", labels: mine, why: undefined },
    { what: "that we have applied", entry: applied, why: undefined },
    { what: "without an owner", why: notOurs },
    { what: "recreated since we applied it", entry: { ...applied, uid: "before" }, why: notOurs },
    { what: "that we must not change", entry: leftAlone, why: notOurs },
    { what: "of which only the name is stored", entry: planned, why: notOurs },
    {
      what: "with the labels of an owner of the same name elsewhere",
      labels: theirs,
      entry: applied,
      why: "it belongs to Kustomization/other/app by its labels",
    },
    {
      what: "with one of two labels of another owner",
      labels: { [label("name")]: "other" },
      entry: applied,
      why: "it belongs to Kustomization/?/other by its labels",
    },
    {
      what: "with the other of two labels of another owner",
      labels: { [label("namespace")]: "other" },
      entry: applied,
      why: "it belongs to Kustomization/other/? by its labels",
    },
    { what: "with one of our two labels", labels: { [label("namespace")]: "team" }, why: notOurs },
    {
      what: "that we have applied, with one of our two labels",
      labels: { [label("name")]: "app" },
      entry: applied,
      why: undefined,
    },
    {
      what: "with our labels and another owner's claim",
      labels: mine,
      entry: applied,
      claimedBy: "Kustomization/team/second",
      why: "Kustomization/team/second claims it too",
    },
  ])("$what: $why", async ({ labels, entry, claimedBy, why }) => {
    const inventory = [{ ...applied, id: "another" }, ...(entry === undefined ? [] : [entry])];
    const live = { name: "a", uid: "u", ...(labels === undefined ? {} : { labels }) };
    const deps = { owner, inventory, otherOwner: async () => claimedBy };
    expect(await reasonNotToReplace("i", live, deps, signal)).toBe(why);
  });
});
