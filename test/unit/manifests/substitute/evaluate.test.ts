import { describe, expect, test } from "vitest";
import { messageOf } from "../../../../lib/core/failure.ts";
import { maxSubstitutedBytes, substituteText } from "../../../../lib/manifests/substitute/evaluate.ts";
import { maxGlobBytes, maxGlobbedBytes } from "../../../../lib/manifests/substitute/glob.ts";
import { maxBuildSteps, OutOfSteps, StepBudget } from "../../../../lib/manifests/substitute/step-budget.ts";
import { maxNesting } from "../../../../lib/manifests/substitute/template.ts";
import { grammar, variables } from "./grammar.ts";

function answerTo(template: string): string | { readonly error: string } {
  try {
    return substituteText(template, variables);
  } catch (error) {
    return { error: messageOf(error) };
  }
}

describe("a variable template", () => {
  test.each(grammar)("%s gives the result in the table of the grammar (61)", (template, answer) => {
    expect(answerTo(template)).toEqual(answer);
  });

  test.each([
    ["${missing}", ""],
    ["${#missing}", "0"],
    ["${missing^^}${missing:0:1}${missing#a}${missing/a/b}", ""],
    ["${missing:=def}", "def"],
    ["${foo}", "bar"],
  ])("%s is %j if the build is not strict (54, 61)", (template, text) => {
    expect(substituteText(template, variables, { strict: false })).toBe(text);
  });

  test.each(["$&", "$1", "$$", "$`", "$'", "$<a>", "\\1", "\\/", "&", "${foo}", "*", "[a]", "."])(
    "inserts a value with %s unchanged, whichever expression names it",
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

  test("reports the place of an invalid expression", () => {
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

  test("is refused if its defaults are nested too deeply", () => {
    const nested = (levels: number): string => `${"${missing:=".repeat(levels)}x${"}".repeat(levels)}`;
    expect(substituteText(nested(maxNesting), variables)).toBe("x");
    expect(() => substituteText(nested(maxNesting + 1), variables)).toThrow("nested deeper than 100 levels");
    expect(() => substituteText("${missing:=".repeat(100_000), variables)).toThrow("nested deeper than 100 levels");
  });

  test("that makes an object too large is refused", () => {
    const large = new Map([["large", "x".repeat(1_000_000)]]);
    expect(substituteText("${large}", large)).toHaveLength(1_000_000);
    const message = `the object becomes larger than ${maxSubstitutedBytes} bytes`;
    expect(() => substituteText("${large}".repeat(40), large)).toThrow(message);
    expect(() => substituteText("${large:=${large}}".repeat(40), large)).toThrow(message);
  });

  test("that is larger than an object may be is refused before it is parsed", () => {
    const source = "${".padEnd(maxSubstitutedBytes + 1, "x");
    expect(() => substituteText(source, variables)).toThrow(`the object is larger than ${maxSubstitutedBytes} bytes`);
    expect(() => substituteText(source.slice(1), variables)).not.toThrow();
  });

  test("that replaces each character of a value by another value is refused before the text is made", () => {
    const value = "a".repeat(10_000);
    const multiplied = new Map([
      ["v", value],
      ["w", value],
      ["empty", ""],
    ]);
    const message = `v: it becomes larger than ${maxSubstitutedBytes} bytes`;
    expect(() => substituteText("${v//a/${w}}", multiplied)).toThrow(message);
    expect(() => substituteText("${v//${empty}/${w}}", multiplied)).toThrow(message);
    const nested = `${"${v//a/".repeat(50)}aa${"}".repeat(50)}`;
    expect(() => substituteText(nested, new Map([["v", "aaaa"]]))).toThrow(message);
  });

  test.each([
    ["${v//ab/x} ${v/ab/x}", "abaabab", "xaxx xaabab"],
    ["${v//aa/x} ${v//aba/x}", "aaaaaba", "xxaba aaaax"],
    ["${v//aab/x} ${v//abab/x}", "aaabababab", "axababab aaxx"],
    ["${v//${empty}/-} ${v/${empty}/-} ${v//x/}", "a€", "-a-€- -a€ a€"],
  ])("%s finds the pattern in %s as Go does, the next match after the last", (template, value, text) => {
    const values = new Map(Object.entries({ v: value, empty: "" }));
    expect(substituteText(template, values)).toBe(text);
  });

  test("costs steps for the values that its expressions read, for each read", () => {
    const large = new Map(Object.entries({ v: "a".repeat(100_000), empty: "" }));
    const spent = (template: string): number => {
      const budget = new StepBudget(maxBuildSteps);
      substituteText(template, large, { budget });
      return budget.spent;
    };
    expect(spent("no expression")).toBe(0);
    expect(spent("${#v}".repeat(100))).toBeLessThan(110_000);
    for (const expression of ["${v//a/}", "${v^^}", "${v,}", "${v/b/}", "${v//b/}"]) {
      const once = spent(expression);
      expect(once).toBeGreaterThanOrEqual(200_000);
      expect(spent(expression.repeat(3))).toBe(3 * once - 2 * 100_000);
    }
  });

  test("is aborted when the budget of steps is used up, including those of other texts", () => {
    const budget = new StepBudget(1_000);
    for (let texts = 0; texts < 3; texts++) substituteText("${foo//b/c}".repeat(8), variables, { budget });
    expect(() => substituteText("${foo//b/c}".repeat(20), variables, { budget })).toThrow(OutOfSteps);
    expect(budget.left).toBe(0);
  });

  test("removes patterns from values only up to a length at which that is fast", () => {
    const long = new Map([["long", "x".repeat(maxGlobbedBytes + 1)]]);
    expect(substituteText("${long%%x*}", new Map([["long", "x".repeat(maxGlobbedBytes)]]))).toBe("");
    expect(() => substituteText("${long%%x*}", long)).toThrow(
      "long: a pattern of at most 256 bytes can be removed from a value",
    );
    expect(() => substituteText(`\${foo%%${"x".repeat(maxGlobBytes + 1)}}`, variables)).toThrow(
      "a pattern of at most 256 bytes",
    );
  });

  test("that cuts a value inside a character is refused", () => {
    const euro = new Map([["euro", "€"]]);
    expect(() => substituteText("${euro:1}", euro)).toThrow("a part of a value begins or ends inside of a character");
  });
});
