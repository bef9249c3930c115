import { expect, test } from "vitest";
import type { Json } from "../../../../../lib/core/json.ts";
import { fieldChanges } from "../../../../../lib/flows/helm-release/actions/field-changes.ts";

test.each<[string, Json, Json, readonly [string, Json | undefined, Json | undefined][]]>([
  ["equal values have no differences", { a: { b: [1] } }, { a: { b: [1] } }, []],
  ["a value that changes", { a: { b: 1, c: 2 } }, { a: { b: 3, c: 2 } }, [["/a/b", 1, 3]]],
  [
    "added and removed fields, in the order of the keys",
    { z: 1 },
    { a: 2 },
    [
      ["/a", undefined, 2],
      ["/z", 1, undefined],
    ],
  ],
  [
    "lists place by place",
    [{ n: "a" }, { n: "b" }],
    [{ n: "a" }, { n: "c" }, { n: "d" }],
    [
      ["/1/n", "b", "c"],
      ["/2", undefined, { n: "d" }],
    ],
  ],
  ["a list that gets shorter", { a: [1, 2] }, { a: [1] }, [["/a/1", 2, undefined]]],
  ["a map that becomes another type is one field", { a: { b: 1 } }, { a: null }, [["/a", { b: 1 }, null]]],
  ["keys are escaped as in a JSON pointer", { "a/b~c": 1 }, { "a/b~c": 2 }, [["/a~1b~0c", 1, 2]]],
])("the changed fields of two objects: %s", (_, before, after, changes) => {
  expect(fieldChanges(before, after)).toEqual(changes.map(([path, old, next]) => ({ path, before: old, after: next })));
});
