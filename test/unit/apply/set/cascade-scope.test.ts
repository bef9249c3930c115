import { describe, expect, test } from "vitest";
import { cascadeScopeOf, isWithin } from "../../../../lib/apply/set/cascade-scope.ts";

const ref = (group: string, kind: string, name: string, namespace = "") => ({ group, kind, namespace, name });
const definitions = "apiextensions.k8s.io";

describe("objects that are deleted along with an object", () => {
  test.each([
    { of: ref("", "Namespace", "team"), scope: { kind: "namespace", namespace: "team" } },
    {
      of: ref(definitions, "CustomResourceDefinition", "widgets.a.example.com"),
      scope: { kind: "definition", plural: "widgets", group: "a.example.com" },
    },
    { of: ref("", "ConfigMap", "team", "team"), scope: undefined },
    { of: ref("other.example.com", "Namespace", "team"), scope: undefined },
    { of: ref("other.example.com", "CustomResourceDefinition", "widgets.a.example.com"), scope: undefined },
  ])("$of.kind of group '$of.group': $scope", ({ of, scope }) => {
    expect(cascadeScopeOf(of)).toEqual(scope);
  });

  const namespace = { kind: "namespace", namespace: "team" } as const;
  const definition = { kind: "definition", plural: "widgets", group: "a.example.com" } as const;
  test.each([
    { name: "in the namespace", part: ref("", "ConfigMap", "a", "team"), scope: namespace, isIn: true },
    { name: "in another one", part: ref("", "ConfigMap", "a", "team-b"), scope: namespace, isIn: false },
    { name: "cluster-wide, of its name", part: ref("", "Namespace", "team"), scope: namespace, isIn: false },
    { name: "of the definition", part: ref("a.example.com", "Widget", "w", "t"), scope: definition, isIn: true },
    { name: "of another group", part: ref("b.example.com", "Widget", "w", "t"), scope: definition, isIn: false },
  ])("$name: $isIn", ({ part, scope, isIn }) => {
    expect(isWithin(part, "widgets", scope)).toBe(isIn);
  });

  test("do not include an object with another plural, or of a kind that is no longer served", () => {
    const gadget = ref("a.example.com", "Gadget", "g", "t");
    expect(isWithin(gadget, "gadgets", definition)).toBe(false);
    expect(isWithin(gadget, undefined, definition)).toBe(false);
  });
});
