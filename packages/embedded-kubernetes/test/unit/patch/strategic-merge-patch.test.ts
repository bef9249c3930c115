import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { strategicMergePatch } from "../../../src/patch/strategic-merge-patch.ts";
import { builtinSchema } from "../../../src/schema/builtin-schema.ts";

const pod = builtinSchema({ group: "", version: "v1", kind: "Pod" }) ?? {};

interface Case {
  readonly name: string;
  readonly spec: JsonObject;
  readonly patch: JsonObject;
  readonly patched: Json;
}

const [a, b, c] = [
  { name: "a", image: "a:1" },
  { name: "b", image: "b:1" },
  { name: "c", image: "c:1" },
];

const cases: readonly Case[] = [
  {
    name: "items of a keyed list are merged by their key, a new one goes first",
    spec: { containers: [a, b] },
    patch: { containers: [{ name: "b", image: "b:2" }, c] },
    patched: { containers: [a, { name: "b", image: "b:2" }, c] },
  },
  {
    name: "$setElementOrder orders the listed items, others keep their place",
    spec: { containers: [a, b, c] },
    patch: { "$setElementOrder/containers": [{ name: "c" }, { name: "a" }] },
    patched: { containers: [b, c, a] },
  },
  {
    name: "$patch: delete takes an item out, also with an order",
    spec: { containers: [a, b, c] },
    patch: {
      "$setElementOrder/containers": [{ name: "c" }, { name: "a" }],
      containers: [{ name: "b", $patch: "delete" }],
    },
    patched: { containers: [c, a] },
  },
  {
    name: "$patch: replace in a list leaves the patch's items",
    spec: { containers: [a, b] },
    patch: { containers: [{ $patch: "replace" }, c] },
    patched: { containers: [c] },
  },
  {
    name: "$patch: replace in a map leaves the patch's fields",
    spec: { nodeSelector: { x: "1" }, securityContext: { runAsUser: 1 } },
    patch: { securityContext: { $patch: "replace", runAsGroup: 2 } },
    patched: { nodeSelector: { x: "1" }, securityContext: { runAsGroup: 2 } },
  },
  {
    name: "$retainKeys drops unlisted keys",
    spec: { volumes: [{ name: "v", emptyDir: {} }] },
    patch: { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "m" } }] },
    patched: { volumes: [{ name: "v", configMap: { name: "m" } }] },
  },
  {
    name: "a list without a merge key is replaced",
    spec: { tolerations: [{ key: "x" }] },
    patch: { tolerations: [{ key: "y" }] },
    patched: { tolerations: [{ key: "y" }] },
  },
  {
    name: "null deletes, and new values lose nulls and directives",
    spec: { nodeName: "n", containers: [a] },
    patch: { nodeName: null, affinity: { nodeAffinity: null, podAffinity: { $patch: "replace" } } },
    patched: { containers: [a], affinity: {} },
  },
  {
    name: "a directive removes a plain value, and one for a missing value does nothing",
    spec: { nodeName: "n", containers: [a] },
    patch: { nodeName: { $patch: "delete" }, affinity: { $patch: "merge" } },
    patched: { containers: [a] },
  },
];

const refused: readonly { readonly name: string; readonly patch: JsonObject; readonly message: string }[] = [
  {
    name: "a list of two types of items",
    patch: { containers: ["x"] },
    message: "list element types are not identical: [[map[image:a:1 name:a] map[image:b:1 name:b]] [x]]",
  },
  {
    name: "an item without its key",
    patch: { containers: [{ image: "x" }] },
    message: "map: map[image:x] does not contain declared merge key: name",
  },
  {
    name: "an unknown directive",
    patch: { containers: [{ name: "a", $patch: "frob" }] },
    message: "unknown patch type: frob in map: map[$patch:frob name:a]",
  },
  {
    name: "a deletion without the key",
    patch: { containers: [{ $patch: "delete" }] },
    message: "map: map[$patch:delete] does not contain declared merge key: name",
  },
  {
    name: "fields that $retainKeys does not list",
    patch: { $retainKeys: ["nodeName"], hostname: "h" },
    message: "invalid patch format of retainKeys",
  },
  {
    name: "an order that lacks a patched item",
    patch: { "$setElementOrder/containers": [{ name: "b" }], containers: [{ name: "a" }] },
    message: "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
  },
];

describe("strategicMergePatch", () => {
  test.each(cases)("$name", ({ spec, patch, patched }) => {
    const document = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec };
    expect(strategicMergePatch(document, { spec: patch }, pod)).toEqual({ ...document, spec: patched });
  });

  test.each(refused)("$name is refused with the Go library's text", ({ patch, message }) => {
    const document = { apiVersion: "v1", kind: "Pod", spec: { containers: [a, b] } };
    expect(() => strategicMergePatch(document, { spec: patch }, pod)).toThrow(
      expect.objectContaining({ code: 500, reason: undefined, message }),
    );
  });
});
