import { expect, test } from "vitest";
import { followedMark } from "../../../../lib/api/kinds/followed-mark.ts";
import { digestOf } from "../../../../lib/core/digest.ts";

const one = { followedAnnotations: ["a"] } as const;
const two = { followedAnnotations: ["a", "b"] } as const;

test("an object has no mark if its kind follows no annotation, or if it has none of them", () => {
  expect(followedMark({}, { a: "1" })).toEqual([]);
  expect(followedMark(two, { c: "1" })).toEqual([]);
});

test("the mark of a single annotation is the digest that earlier releases have stored", () => {
  expect(followedMark(one, { a: "1", b: "2" })).toEqual([digestOf("1")]);
});

test("each change of one of several annotations changes the mark", () => {
  const versions = [{ a: "1" }, { b: "1" }, { a: "1", b: "1" }, { a: "1", b: "2" }];
  const marks = versions.map((annotations) => followedMark(two, annotations).join());
  expect(new Set(marks).size).toBe(versions.length);
});
