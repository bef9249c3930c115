import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatJson, parseJson } from "../../../lib/core/json.ts";
import { checkedChars, maxJsonDepth, maxJsonParts } from "../../../lib/core/json-text.ts";
import { maxListedObjects, parseList } from "../../../lib/kube/list-answer.ts";

const signal = new AbortController().signal;
/** Makes a text long enough to be parsed item by item. */
const filler = `"filler":""${" ".repeat(checkedChars)}`;

describe("an answer with items", () => {
  test("gives the same items one by one as in one piece", async () => {
    const space = fc.constantFrom("", " ", "\n\t ", " ".repeat(100));
    const key = fc.constantFrom('"items"', '"a\\"items"', '"metadata"', '"spec"');
    const value = fc.jsonValue().map((json) => formatJson(json));
    const list = fc
      .tuple(fc.array(value, { maxLength: 5 }), space)
      .map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`);
    const field = fc
      .tuple(key, space, fc.oneof(list, value))
      .map(([name, gap, text]) => `${gap}${name}${gap}:${gap}${text}${gap}`);
    const fields = fc.array(field, { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fields, fields, async (before, after) => {
        const text = `{${[...before, filler, ...after].join(",")}}`;
        expect(await parseList(text, signal)).toEqual(parseJson(text));
      }),
    );
  });

  test.each([
    `{"items":[1,]${filler}}`,
    `{"items":[,1],${filler}}`,
    `{"items":[1,,2],${filler}}`,
    `{"items":[1 2],${filler}}`,
    `{"items":[1],${filler}`,
    `{"items":[1,${filler}}`,
    `{"items":[{]},${filler}}`,
  ])("is refused if it is not JSON: %#", async (text) => {
    await expect(parseList(text, signal)).rejects.toThrow(SyntaxError);
  });

  test("keeps every digit of integers in its items and around them", async () => {
    const text = `{"a":9007199254740993,"items":[{"b":9223372036854775807}],${filler}}`;
    expect(await parseList(text, signal)).toMatchObject({ a: 9007199254740993n, items: [{ b: 2n ** 63n - 1n }] });
  });

  test("may have more parts than one text may have, if each item has fewer", async () => {
    const items = `${"{},".repeat(maxJsonParts)}{}`;
    expect(await parseList(`{"items":[${items}]}`, signal)).toMatchObject({ items: { length: maxJsonParts + 1 } });
    await expect(parseList(`{"items":[{"a":[${items}]}]}`, signal)).rejects.toThrow(
      `it has more than ${maxJsonParts} lists, objects and commas`,
    );
  });
});

test("a list answer has a limit of items", async () => {
  const text = `{"items":[${"1,".repeat(maxListedObjects)}1]}`;
  await expect(parseList(text, signal)).rejects.toThrow(`it has more than ${maxListedObjects} items`);
});

describe("a long JSON text", () => {
  /** Four of them are outside of the list, its brackets among them. */
  const ofParts = (count: number): string => `{${filler},"b":"\\\\","a":[${"1,".repeat(count - 4)}1]}`;
  const ofDepth = (depth: number): string => `{${filler},"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

  test("may have this many parts and levels, and no more", () => {
    expect(parseJson(ofParts(maxJsonParts))).toMatchObject({ a: { length: maxJsonParts - 3 } });
    expect(() => parseJson(ofParts(maxJsonParts + 1))).toThrow(
      `it has more than ${maxJsonParts} lists, objects and commas`,
    );
    expect(parseJson(ofDepth(maxJsonDepth))).toHaveProperty("a");
    expect(() => parseJson(ofDepth(maxJsonDepth + 1))).toThrow(`it nests deeper than ${maxJsonDepth} levels`);
  });

  test("ignores commas and brackets in its strings", () => {
    const text = `["${'[,\\"{'.repeat(maxJsonParts)}","\\\\",1]`;
    expect(parseJson(text)).toHaveLength(3);
  });
});
