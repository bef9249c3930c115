import { describe, expect, test } from "vitest";
import {
  childOf,
  maxXmlDepth,
  maxXmlElements,
  maxXmlEntities,
  readXml,
  textOf,
} from "../../../../lib/sources/bucket/read-xml.ts";

describe("an answer in XML", () => {
  test("is parsed with names, texts, entities, comments and CDATA", () => {
    const root = readXml(
      '\ufeff<?xml version="1.0"?>\n<!-- c --><s:List xmlns:s="a>b"><Key a=\'>\'>a&amp;&#38;&#x26;&lt;b&gt;&quot;&apos;</Key><Empty/><Raw><![CDATA[<&]]> x</Raw></s:List>\n',
    );
    expect(root.name).toBe("List");
    expect(textOf(root, "Key")).toBe("a&&&<b>\"'");
    expect(childOf(root, "Empty")).toEqual({ name: "Empty", text: "", children: [] });
    expect(textOf(root, "Raw")).toBe("<& x");
    expect(textOf(root, "Absent")).toBe("");
  });

  test.each([
    ["", "no end or not one root"],
    ["no xml", "text outside of its root"],
    ["<a>", "no end or not one root"],
    ["<a></b>", "its tags do not match"],
    ["</a>", "its tags do not match"],
    ["<a/><b/>", "no end or not one root"],
    ["<a", "a tag has no end"],
    ["<a b='>", "a tag has no end"],
    ["< >", "a tag has no name"],
    ["<!-- ", "it has no -->"],
    ['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "a document type"],
    ["<a>&x;</a>", "an unknown entity"],
    ["<a>&#x110000;</a>", "an unknown entity"],
    ["<a>& b</a>", "an unknown entity"],
    ["<a>&amp</a>", "an unknown entity"],
    ["<a>&constructor;</a>", "an unknown entity"],
  ])("is refused without quoting it: %s", (text, why) => {
    expect(() => readXml(text)).toThrow(RangeError);
    expect(() => readXml(text)).toThrow(why);
  });

  test("has a limited depth", () => {
    const nested = (depth: number) => `${"<a>".repeat(depth)}${"</a>".repeat(depth)}`;
    expect(readXml(nested(maxXmlDepth)).name).toBe("a");
    expect(() => readXml(nested(maxXmlDepth + 1))).toThrow(`elements more than ${maxXmlDepth} deep`);
  });

  test("has a limited number of entities", () => {
    const many = (count: number) => `<a>${"&lt;".repeat(count)}</a>`;
    expect(readXml(many(maxXmlEntities)).text).toHaveLength(maxXmlEntities);
    expect(() => readXml(many(maxXmlEntities + 1))).toThrow(`more than ${maxXmlEntities} entities`);
  });

  test("has a limited number of elements", () => {
    const many = (count: number) => `<a>${"<b/>".repeat(count - 1)}</a>`;
    expect(readXml(many(maxXmlElements)).children).toHaveLength(maxXmlElements - 1);
    expect(() => readXml(many(maxXmlElements + 1))).toThrow(`more than ${maxXmlElements} elements`);
  });
});
