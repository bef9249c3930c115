import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Json, toJson } from "../../../lib/core/json.ts";
import { parsePointer, valueAt, withoutPointer, withValueAt } from "../../../lib/core/json-pointer.ts";

const object: Json = { a: { "b/c": { "~": 1 } }, list: [{ n: "x" }, { n: "y" }], empty: {} };

function pointer(text: string) {
  return parsePointer(text) ?? ["not a pointer"];
}

describe("a JSON pointer", () => {
  test.each([
    { text: "", value: object },
    { text: "/a/b~1c/~0", value: 1 },
    { text: "/list/1/n", value: "y" },
    { text: "/list/-1/n", value: "y" },
    { text: "/list/2", value: undefined },
    { text: "/list/-3", value: undefined },
    { text: "/list/n", value: undefined },
    { text: "/list/1e0", value: undefined },
    { text: "/a/b", value: undefined },
    { text: "/toString", value: undefined },
    { text: "/a/b~1c/~0/deeper", value: undefined },
  ])("$text finds its value", ({ text, value }) => {
    expect(valueAt(object, pointer(text))).toEqual(value);
  });

  test.each([
    ["/", [""]],
    ["//a", ["", "a"]],
    ["/a~01", ["a~1"]],
    ["/~1a~1b~1", ["/a/b/"]],
    ["/~0~0~01", ["~~~1"]],
    ["/~00~11", ["~0/1"]],
  ])("%s has the parts %j", (text, parts) => {
    expect(parsePointer(text)).toEqual(parts);
  });

  test("starts with a slash, unless it is empty", () => {
    expect(parsePointer("a/b")).toBeUndefined();
  });

  test.each([
    { text: "/a/b~1c/~0", left: { ...object, a: { "b/c": {} } } },
    { text: "/list/0", left: { ...object, list: [{ n: "y" }] } },
    { text: "/list/-1", left: { ...object, list: [{ n: "x" }] } },
    { text: "/list/5", left: object },
    { text: "/x/y", left: object },
    { text: "", left: object },
  ])("removes $text, and its parent stays", ({ text, left }) => {
    expect(withoutPointer(object, pointer(text))).toEqual(left);
  });

  test.each([
    { text: "/a/new/deep", after: { ...object, a: { "b/c": { "~": 1 }, new: { deep: 7 } } } },
    { text: "/list/0/n", after: { ...object, list: [{ n: 7 }, { n: "y" }] } },
    { text: "/list/9", after: object },
    { text: "/a/b~1c/~0/x", after: object },
  ])("sets $text, but creates no list item", ({ text, after }) => {
    expect(withValueAt(object, pointer(text), 7)).toEqual(after);
  });

  test("changes only the value that it names", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.oneof(fc.string(), fc.nat(3).map(String))), (any, parts) => {
        const json = toJson(any);
        const found = valueAt(json, parts);
        const changed = withValueAt(withoutPointer(json, parts), parts, found ?? null);
        expect(
          parsePointer(parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")),
        ).toEqual(parts);
        // An item that was taken out of a list is not put back at its place.
        const isInList = parts.length > 0 && Array.isArray(valueAt(json, parts.slice(0, -1)));
        expect(found === undefined || isInList || JSON.stringify(valueAt(changed, parts))).toEqual(
          found === undefined || isInList || JSON.stringify(found),
        );
      }),
    );
  });
});
