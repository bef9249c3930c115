import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StatusError } from "../../../src/core/api-object.ts";
import type { Resource } from "../../../src/resource/resource.ts";
import { parseFieldSelector } from "../../../src/server/field-selector.ts";
import { parseLabelSelector } from "../../../src/server/label-selector.ts";

function resource(key: string): Resource {
  return {
    group: "",
    version: "v1",
    kind: "Kind",
    listKind: "KindList",
    plural: "kinds",
    singular: "kind",
    namespaced: true,
    verbs: [],
    shortNames: [],
    categories: [],
    subresources: [],
    key,
    storage: { group: "", version: "v1", kind: "Kind" },
    custom: undefined,
    schema: () => ({}),
  };
}

describe("a label selector", () => {
  test.each([
    { selector: "a", labels: { a: "" }, matches: true },
    { selector: "!a", labels: {}, matches: true },
    { selector: "!a", labels: { a: "x" }, matches: false },
    { selector: "a=x,b!=y", labels: { a: "x" }, matches: true },
    { selector: "a==x", labels: { a: "y" }, matches: false },
    { selector: "a in (x, y)", labels: { a: "y" }, matches: true },
    { selector: "a in ()", labels: { a: "" }, matches: true },
    { selector: "a notin (x)", labels: {}, matches: true },
    { selector: "n>1", labels: { n: "2" }, matches: true },
    { selector: "n<1", labels: { n: "2" }, matches: false },
    { selector: "in in (in)", labels: { in: "in" }, matches: true },
    { selector: "a=", labels: { a: "" }, matches: true },
    { selector: "example.com/a=x", labels: { "example.com/a": "x" }, matches: true },
    { selector: "constructor", labels: {}, matches: false },
  ])("$selector on $labels: $matches", ({ selector, labels, matches }) => {
    expect(parseLabelSelector(selector)?.(labels)).toBe(matches);
  });

  test("with only spaces selects everything", () => {
    expect(parseLabelSelector("  ")).toBeUndefined();
  });

  test("with any text is parsed or gets a 400", () => {
    const part = fc.constantFrom("a", "b/c", "=", "==", "!=", "!", "in", "notin", "(", ")", ",", ">", "<", " ", "1");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((parts) => parts.join("")),
        ),
        (text) => {
          expect(outcomeOf(text)).toMatch(/^(parses|400)$/);
        },
      ),
    );
  });
});

describe("a field selector", () => {
  test.each([
    { selector: "metadata.name=a", key: "/configmaps", object: { metadata: { name: "a" } }, matches: true },
    { selector: "metadata.name!=a", key: "/configmaps", object: { metadata: { name: "a" } }, matches: false },
    { selector: "spec.nodeName=", key: "/pods", object: { spec: {} }, matches: true },
    {
      selector: "type=Opaque,metadata.name=s",
      key: "/secrets",
      object: { type: "Opaque", metadata: { name: "s" } },
      matches: true,
    },
    {
      selector: "involvedObject.name=a\\,b",
      key: "/events",
      object: { involvedObject: { name: "a,b" } },
      matches: true,
    },
    { selector: "spec.unschedulable=false", key: "/nodes", object: {}, matches: true },
  ])("$selector on $object: $matches", ({ selector, key, object, matches }) => {
    expect(parseFieldSelector(selector, resource(key))?.matches(object)).toBe(matches);
  });

  test.each(["data.k=v", "metadata.labels=x", "nonsense"])("%s on a ConfigMap gets a 400", (selector) => {
    expect(() => parseFieldSelector(selector, resource("/configmaps"))).toThrow(StatusError);
  });

  test("on one name returns that name", () => {
    expect(parseFieldSelector("metadata.name=a", resource("/pods"))).toMatchObject({ name: "a", isMetadataOnly: true });
  });
});

function outcomeOf(text: string): string {
  try {
    parseLabelSelector(text)?.({ a: "1" });
    return "parses";
  } catch (error) {
    return error instanceof StatusError ? String(error.code) : String(error);
  }
}
