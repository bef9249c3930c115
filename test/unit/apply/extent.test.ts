import { describe, expect, test } from "vitest";
import { extentOf, isWithin } from "../../../lib/apply/extent.ts";

const ref = (group: string, kind: string, name: string, namespace = "") => ({ group, kind, namespace, name });
const definitions = "apiextensions.k8s.io";

describe("what goes with an object that is deleted", () => {
  test.each([
    { of: ref("", "Namespace", "team"), extent: { kind: "namespace", namespace: "team" } },
    {
      of: ref(definitions, "CustomResourceDefinition", "widgets.a.example.com"),
      extent: { kind: "definition", plural: "widgets", group: "a.example.com" },
    },
    { of: ref("", "ConfigMap", "team", "team"), extent: undefined },
    { of: ref("other.example.com", "Namespace", "team"), extent: undefined },
    { of: ref("other.example.com", "CustomResourceDefinition", "widgets.a.example.com"), extent: undefined },
  ])("$of.kind of group '$of.group': $extent", ({ of, extent }) => {
    expect(extentOf(of)).toEqual(extent);
  });

  const namespace = { kind: "namespace", namespace: "team" } as const;
  const definition = { kind: "definition", plural: "widgets", group: "a.example.com" } as const;
  test.each([
    { name: "in the namespace", part: ref("", "ConfigMap", "a", "team"), extent: namespace, isIn: true },
    { name: "in another one", part: ref("", "ConfigMap", "a", "team-b"), extent: namespace, isIn: false },
    { name: "cluster-wide, of its name", part: ref("", "Namespace", "team"), extent: namespace, isIn: false },
    { name: "of the definition", part: ref("a.example.com", "Widget", "w", "t"), extent: definition, isIn: true },
    { name: "of another group", part: ref("b.example.com", "Widget", "w", "t"), extent: definition, isIn: false },
  ])("$name: $isIn", ({ part, extent, isIn }) => {
    expect(isWithin(part, "widgets", extent)).toBe(isIn);
  });

  test("what is of another plural, or served no more, is of no definition", () => {
    const gadget = ref("a.example.com", "Gadget", "g", "t");
    expect(isWithin(gadget, "gadgets", definition)).toBe(false);
    expect(isWithin(gadget, undefined, definition)).toBe(false);
  });
});
