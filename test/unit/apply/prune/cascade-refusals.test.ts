import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../../lib/api/names.ts";
import { refusal } from "../../../../lib/apply/prune/cascade-refusals.ts";
import { decidePrune } from "../../../../lib/apply/prune/decide-prune.ts";
import type { EntryFacts } from "../../../../lib/apply/prune/facts.ts";
import type { OwnerNearby } from "../../../../lib/apply/set/apply-set.ts";
import { factsOf, ref, there, unwanted } from "./sample-facts.ts";

const team = { group: "", kind: "Namespace", namespace: "", name: "team" };
const wanted = (name: string) => ({ ref: { group: "", kind: "ConfigMap", namespace: "team", name } });

describe("why a namespace is not pruned", () => {
  test.each([
    { names: ["a"], named: "ConfigMap/team/a;" },
    { names: ["a", "b", "c"], named: "ConfigMap/team/a, ConfigMap/team/b, ConfigMap/team/c;" },
    {
      names: ["a", "b", "c", "d", "e"],
      named: "ConfigMap/team/a, ConfigMap/team/b, ConfigMap/team/c and 2 more;",
    },
  ])("the message names at most three objects: $names", ({ names, named }) => {
    const text = refusal(team, names.map(wanted));
    expect(text).toContain(
      `Namespace/team prune refused: it would also delete objects that are still wanted: ${named} put it back`,
    );
  });

  test("the message names the owner of an object outside the artifact", () => {
    const theirs = { ...wanted("a"), owner: "Kustomization/apps/shop" };
    expect(refusal(team, [theirs])).toContain("ConfigMap/team/a of Kustomization/apps/shop;");
  });

  test("the message names the protection of an object that the artifact does not contain", () => {
    const kept = { ...wanted("a"), why: "kept by prune: false" };
    expect(refusal(team, [kept])).toContain("ConfigMap/team/a (kept by prune: false);");
  });
});

describe("a namespace that is about to be pruned waits for", () => {
  const namespace = ref("team", { kind: "Namespace", namespace: "" });
  const kustomization = (name: string, at = "apps") =>
    ref(name, { group: kustomizeGroup, kind: "Kustomization", namespace: at });
  const child = kustomization("child");
  const inTeam = (name: string) => ({ ref: ref(name, { namespace: "team" }) });
  const nearby = (more: Partial<OwnerNearby> = {}): OwnerNearby => {
    return { ref: child, isSelf: false, isTerminating: false, cascades: true, has: [inTeam("a")], ...more };
  };
  const lineFor = (owners: readonly OwnerNearby[], more: Parameters<typeof factsOf>[1] = {}, ...also: EntryFacts[]) => {
    const decided = decidePrune(factsOf([unwanted(namespace), ...also], { owners, ...more }));
    const refused = decided.find(({ kind }) => kind === "refuse");
    return refused?.kind === "refuse" ? refused.line.replace(/^.*wanted: (.*); put it back.*$/, "$1") : undefined;
  };

  test.each([
    {
      name: "one that is kept",
      metadata: {},
      line: "ConfigMap/team/kept (kustomize.toolkit.fluxcd.io/prune: disabled on the object in the cluster)",
    },
    {
      name: "not an object that is deleted in any case",
      metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
      line: undefined,
    },
  ])("an object in it: $name", ({ metadata, line }) => {
    const annotations = { [`${kustomizeGroup}/prune`]: "disabled" };
    const kept = unwanted(ref("kept", { namespace: "team" }), { object: there("kept", { annotations, ...metadata }) });
    expect(lineFor([], {}, kept)).toBe(line);
  });

  test.each([
    { name: "one that stays", of: nearby(), line: "ConfigMap/team/a of Kustomization/apps/child" },
    {
      name: "an owner that lives in it",
      of: nearby({ ref: kustomization("child", "team"), has: [] }),
      line: "Kustomization/team/child",
    },
    {
      name: "an owner that we own, that is in it and whose objects are known",
      of: nearby({ ref: kustomization("app", "team"), isSelf: true }),
      line: "Kustomization/team/app",
    },
    { name: "an owner that is deleted with its objects", of: nearby({ isTerminating: true }), line: undefined },
    {
      name: "an owner that is deleted and leaves its objects",
      of: nearby({ cascades: false }),
      line: "ConfigMap/team/a of Kustomization/apps/child",
    },
    {
      name: "an owner of the namespace itself",
      of: nearby({ has: [{ ref: namespace }] }),
      line: "Namespace/team of Kustomization/apps/child",
    },
    {
      name: "an owner with no objects in it",
      of: nearby({ has: [{ ref: ref("a", { namespace: "other" }) }] }),
      line: undefined,
    },
  ])("$name", ({ of, line }) => {
    expect(lineFor([of])).toBe(line);
  });

  test("an owner that this prune deletes and that leaves its objects, but not one that deletes them too", () => {
    expect(lineFor([nearby()], {}, unwanted(child))).toBeUndefined();
    expect(lineFor([nearby({ cascades: false })], {}, unwanted(child))).toBe(
      "ConfigMap/team/a of Kustomization/apps/child",
    );
    const protectedChild = there("child", { annotations: { [`${kustomizeGroup}/prune`]: "disabled" } });
    expect(lineFor([nearby()], {}, unwanted(child, { object: protectedChild }))).toBeDefined();
  });

  test("no other owner if its own owner is deleted, and with prune: false nothing is deleted", () => {
    expect(lineFor([nearby()], { isFinalizing: true })).toBeUndefined();
    expect(lineFor([nearby()], { policy: "retain" })).toBeUndefined();
  });

  test("only for a definition: the objects of its plural that the cluster serves, not those of other kinds in its group", () => {
    const definition = ref("widgets.x.io", {
      group: "apiextensions.k8s.io",
      kind: "CustomResourceDefinition",
      namespace: "",
    });
    const widget = (plural: string) => ({ ref: ref("w", { group: "x.io", kind: "Widget" }), plural });
    const of = (plural: string) => factsOf([unwanted(definition)], { wanted: [widget(plural)] });
    expect(decidePrune(of("widgets"))).toMatchObject([{ kind: "refuse" }]);
    expect(decidePrune(of("gadgets"))).toMatchObject([{ kind: "delete" }]);
  });

  test("each object once: first as the artifact's, then as another owner's, then as kept by the prune", () => {
    const a = inTeam("a");
    const kept = unwanted(inTeam("b").ref, { object: there("b", { labels: {} }) });
    const expected = [{ ...a, owner: "Kustomization/apps/next" }];
    expect(lineFor([nearby()], { wanted: [a], expected }, kept)).toBe(
      "ConfigMap/team/a, ConfigMap/team/b (its owner labels name another owner)",
    );
    expect(lineFor([nearby()], { expected })).toBe("ConfigMap/team/a of Kustomization/apps/next");
  });
});
