import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { jsonPatch, maxOperations } from "../../../src/patch/json-patch.ts";
import { mergePatch } from "../../../src/patch/merge-patch.ts";

const document = { a: { b: "1", "c/d": "2" }, list: ["x", "y"] };

describe("jsonPatch", () => {
  test.each<{ readonly patch: Json; readonly patched: Json }>([
    {
      patch: [{ op: "replace", path: "/a/new", value: "n" }],
      patched: { ...document, a: { ...document.a, new: "n" } },
    },
    { patch: [{ op: "remove", path: "/a/c~1d" }], patched: { ...document, a: { b: "1" } } },
    { patch: [{ op: "add", path: "/list/-1", value: "z" }], patched: { ...document, list: ["x", "y", "z"] } },
    { patch: [{ op: "remove", path: "/list/-1" }], patched: { ...document, list: ["x"] } },
    { patch: [{ op: "copy", from: "/list/0", path: "/list/-" }], patched: { ...document, list: ["x", "y", "x"] } },
    { patch: [{ op: "move", from: "/a/b", path: "/b" }], patched: { a: { "c/d": "2" }, list: ["x", "y"], b: "1" } },
    { patch: [{ op: "test", path: "/absent", value: null }], patched: document },
  ])("$patch", ({ patch, patched }) => {
    expect(jsonPatch(document, patch)).toEqual(patched);
  });

  test.each<{ readonly operation: Json }>([
    { operation: { op: "remove", path: "/absent" } },
    { operation: { op: "replace", path: "/list/2", value: "z" } },
    { operation: { op: "add", path: "/absent/x", value: 1 } },
    { operation: { op: "add", path: "/list/x", value: 1 } },
    { operation: { op: "add", path: "", value: 1 } },
    { operation: { op: "frob", path: "/a" } },
    { operation: { op: "test", path: "/a/b", value: "other" } },
  ])("$operation fails, and nothing of its patch is applied", ({ operation }) => {
    expect(() => jsonPatch(document, [{ op: "remove", path: "/a" }, operation])).toThrow(
      expect.objectContaining({ code: 422, message: "the server rejected our request due to an error in our request" }),
    );
  });

  test.each<{ readonly patch: Json }>([{ patch: {} }, { patch: "x" }, { patch: [1] }])(
    "$patch is not a valid patch",
    ({ patch }) => {
      expect(() => jsonPatch(document, patch)).toThrow(expect.objectContaining({ code: 400, reason: "BadRequest" }));
    },
  );
});

describe("mergePatch", () => {
  test("new values lose their nulls, in lists too; a list that replaces a map is kept unchanged", () => {
    const patch = { new: { x: null, y: [{ z: null }] }, a: [{ z: null }] };
    expect(mergePatch(document, patch)).toEqual({ new: { y: [{}] }, a: [{ z: null }], list: ["x", "y"] });
  });

  test("a patch without nulls sets every field in it, and applying it twice gives the same as once", () => {
    const values = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"));
    const documents = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof(fc.constantFrom("1", "2"), values));
    fc.assert(
      fc.property(documents, documents, (before, patch) => {
        const once = mergePatch(before, patch);
        expect(once).toMatchObject(patch);
        expect(mergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});

test("a JSON patch of the local API has a limit of operations", () => {
  const document = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  const patched = (count: number) =>
    jsonPatch(
      document,
      Array.from({ length: count }, () => ({ op: "test", path: "/kind", value: "ConfigMap" })),
    )["kind"];
  expect(patched(maxOperations - 1)).toBe("ConfigMap");
  expect(patched(maxOperations)).toBe("ConfigMap");
  expect(() => patched(maxOperations + 1)).toThrow(`maximum operations in a JSON patch is ${maxOperations}`);
});
