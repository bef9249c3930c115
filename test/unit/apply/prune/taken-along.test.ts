import { describe, expect, test } from "vitest";
import { refusal } from "../../../../lib/apply/prune/taken-along.ts";

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
  ])("names three at most: $names", ({ names, named }) => {
    const text = refusal(team, names.map(wanted));
    expect(text).toContain(
      `Namespace/team prune refused: it would take along what is still wanted: ${named} put it back`,
    );
  });

  test("says whose an object is that is not the artifact's", () => {
    const theirs = { ...wanted("a"), owner: "Kustomization/apps/shop" };
    expect(refusal(team, [theirs])).toContain("ConfigMap/team/a of Kustomization/apps/shop;");
  });

  test("says what protects an object that the artifact does not want", () => {
    const kept = { ...wanted("a"), why: "kept by prune: false" };
    expect(refusal(team, [kept])).toContain("ConfigMap/team/a (kept by prune: false);");
  });
});
