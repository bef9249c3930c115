import { describe, expect, test } from "vitest";
import { messageOf } from "../../../../lib/core/failure.ts";
import { maxSubstitutedBytes, substituteText } from "../../../../lib/manifests/substitute/evaluate.ts";
import { maxGlobBytes, maxGlobbedBytes } from "../../../../lib/manifests/substitute/glob.ts";
import { maxNesting } from "../../../../lib/manifests/substitute/template.ts";
import { grammar, variables } from "./grammar.ts";

function answerTo(template: string): string | { readonly error: string } {
  try {
    return substituteText(template, variables);
  } catch (error) {
    return { error: messageOf(error) };
  }
}

describe("a template", () => {
  test.each(grammar)("%s answers as in the table of the grammar (61)", (template, answer) => {
    expect(answerTo(template)).toEqual(answer);
  });

  test.each([
    ["${missing}", ""],
    ["${#missing}", "0"],
    ["${missing^^}${missing:0:1}${missing#a}${missing/a/b}", ""],
    ["${missing:=def}", "def"],
    ["${foo}", "bar"],
  ])("%s is %j where the build is not strict (54, 61)", (template, text) => {
    expect(substituteText(template, variables, { strict: false })).toBe(text);
  });

  test.each(["$&", "$1", "$$", "$`", "$'", "$<a>", "\\1", "\\/", "&", "${foo}", "*", "[a]", "."])(
    "puts a value with %s into its place as it is, whichever expression names it",
    (value) => {
      const withValue = new Map([...variables, ["value", value]]);
      const answers = (text: string): string => substituteText(text, withValue);
      expect(answers("${value} ${missing:=${value}} ${missing:=<${value}>}")).toBe(`${value} ${value} <${value}>`);
      expect(answers("${m/./${value}} ${m//./${value}}")).toBe(`a${value}b.c a${value}b${value}c`);
      expect(answers("${path/#\\/a/${value}} ${path/%gz/${value}}")).toBe(`${value}/b/c.tar.gz /a/b/c.tar.${value}`);
      expect(answers("${value//x/y} ${value/x/y} ${value%x} ${value#x}")).toBe([value, value, value, value].join(" "));
    },
  );

  const odd = new Map(
    Object.entries({
      twice: "a-a",
      three: "abc",
      short: "-2",
      long: "-9",
      plus: "+1",
      deseret: "𐐨𐐨",
      eszett: "ßa",
      i: "İI",
    }),
  );
  test.each([
    ["${twice/a/b} ${twice//a/b} ${twice/#a/b} ${twice/%a/b}", "b-a b-b b-a a-b"],
    ["${twice/#-/b} ${twice/%-/b} ${twice/x/b}", "a-a a-a a-a"],
    ["${twice#a} ${twice%a} ${twice##*a} ${twice%%a*}", "-a a-  "],
    ["${three:${short}} ${three:${long}} ${three:${plus}}", "bc abc bc"],
    ["${three:${short}:1} ${three:${long}:1} ${three:${plus}:${plus}}", "b a b"],
    ["${deseret^} ${deseret^^}", "𐐀𐐨 𐐀𐐀"],
    ["${eszett^} ${eszett^^} ${i,} ${i,,}", "ßa ßA iI ii"],
    ["${#deseret} ${#eszett}", "8 3"],
  ])("%s is %j for values that repeat, are short, or have letters beyond ASCII", (template, text) => {
    expect(substituteText(template, odd)).toBe(text);
  });

  test("names the place of the expression at fault", () => {
    const at = (template: string): unknown => {
      try {
        return substituteText(template, variables);
      } catch (error) {
        return error;
      }
    };
    expect(at("a ${foo} b ${missing}")).toMatchObject({ at: 11 });
    expect(at("a ${foo} b ${a.b}")).toMatchObject({ at: 11 });
    expect(at("a ${missing:=${a.b}}")).toMatchObject({ at: 13 });
  });

  test("is refused where its defaults are nested deeper than anybody writes", () => {
    const nested = (levels: number): string => `${"${missing:=".repeat(levels)}x${"}".repeat(levels)}`;
    expect(substituteText(nested(maxNesting), variables)).toBe("x");
    expect(() => substituteText(nested(maxNesting + 1), variables)).toThrow("nested deeper than 100 levels");
    expect(() => substituteText("${missing:=".repeat(100_000), variables)).toThrow("nested deeper than 100 levels");
  });

  test("that grows an object past its limit is refused", () => {
    const large = new Map([["large", "x".repeat(1_000_000)]]);
    expect(substituteText("${large}", large)).toHaveLength(1_000_000);
    const message = `the object becomes larger than ${maxSubstitutedBytes} bytes`;
    expect(() => substituteText("${large}".repeat(40), large)).toThrow(message);
    expect(() => substituteText("${large:=${large}}".repeat(40), large)).toThrow(message);
  });

  test("takes patterns off values up to a length at which that is quick", () => {
    const long = new Map([["long", "x".repeat(maxGlobbedBytes + 1)]]);
    expect(substituteText("${long%%x*}", new Map([["long", "x".repeat(maxGlobbedBytes)]]))).toBe("");
    expect(() => substituteText("${long%%x*}", long)).toThrow(
      "long: a pattern of at most 256 bytes is taken off a value",
    );
    expect(() => substituteText(`\${foo%%${"x".repeat(maxGlobBytes + 1)}}`, variables)).toThrow(
      "a pattern of at most 256 bytes",
    );
  });

  test("that cuts a value inside of a character is refused", () => {
    const euro = new Map([["euro", "€"]]);
    expect(() => substituteText("${euro:1}", euro)).toThrow("a part of a value begins or ends inside of a character");
  });
});
