import { describe, expect, test } from "vitest";
import type { Json } from "../../../../../lib/core/json.ts";
import { jsonDiff } from "../../../../../lib/flows/helm-release/actions/json-diff.ts";

const long = "a value that is longer than all operations below it together";

describe("the difference between two values", () => {
  test.each<{ title: string; from: Json; to: Json; operations: readonly object[] }>([
    { title: "of equal values is empty", from: { a: [1, { b: null }] }, to: { a: [1, { b: null }] }, operations: [] },
    {
      title: "of two fields is one operation each, by name",
      from: { z: long, b: 1, gone: true },
      to: { z: long, b: 2, a: 1 },
      operations: [
        { op: "add", path: "/a", value: 1 },
        { op: "replace", path: "/b", value: 2 },
        { op: "remove", path: "/gone" },
      ],
    },
    {
      title: "escapes the names of fields",
      from: { keep: long, "a/b~c": 1 },
      to: { keep: long, "a/b~c": 2 },
      operations: [{ op: "replace", path: "/a~1b~0c", value: 2 }],
    },
    {
      title: "of lists goes item by item: surplus items are removed before the rest is compared",
      from: { list: [long + long, 1, 2, 3], keep: long },
      to: { list: [long + long, 5], keep: long },
      operations: [
        { op: "remove", path: "/list/2" },
        { op: "remove", path: "/list/2" },
        { op: "replace", path: "/list/1", value: 5 },
      ],
    },
    {
      title: "of a longer list appends",
      from: { list: [long], keep: long },
      to: { list: [long, 1], keep: long },
      operations: [{ op: "add", path: "/list/-", value: 1 }],
    },
    {
      title: "is one replacement if that is shorter",
      from: { list: ["a", "b", "c"], keep: long.repeat(3) },
      to: { list: ["d", "e", "f"], keep: long.repeat(3) },
      operations: [{ op: "replace", path: "/list", value: ["d", "e", "f"] }],
    },
    {
      title: "of values of two types is a replacement",
      from: { a: { b: 1 }, keep: long },
      to: { a: [1], keep: long },
      operations: [{ op: "replace", path: "/a", value: [1] }],
    },
    {
      title: "counts a whole number that a double cannot hold",
      from: { a: 2n ** 60n, keep: long },
      to: { a: 2n ** 61n, keep: long },
      operations: [{ op: "replace", path: "/a", value: 2n ** 61n }],
    },
  ])("$title", ({ from, to, operations }) => {
    expect(jsonDiff(from, to)).toEqual(operations);
  });
});
