import { describe, expect, test } from "vitest";
import { maxGlobBytes, maxGlobbedBytes, trimPrefix } from "../../../../lib/manifests/substitute/glob.ts";
import { StepBudget } from "../../../../lib/manifests/substitute/step-budget.ts";

const bytesOf = (text: string): string => Buffer.from(text).toString("latin1");
const textOf = (bytes: string): string => Buffer.from(bytes, "latin1").toString();

function trimmed(value: string, pattern: string, which: "shortest" | "longest"): string {
  return textOf(trimPrefix(bytesOf(value), bytesOf(pattern), which, new StepBudget(1_000_000)));
}

describe("the prefix that a pattern removes from a value", () => {
  test.each([
    ["aXbXc", "*X", "bXc", "c"],
    ["aXbXc", "a*", "XbXc", ""],
    ["aXbXc", "*", "XbXc", ""],
    ["aXbXc", "**X**", "bXc", ""],
    ["aXbXc", "", "aXbXc", "aXbXc"],
    ["aXbXc", "b*", "aXbXc", "aXbXc"],
    ["aXbXc", "*c", "", ""],
    ["aXbXc", "?X*X", "c", "c"],
    ["aXbXc", "*[X-Z]b", "Xc", "Xc"],
    ["aXbXc", "*[^a-b]", "bXc", ""],
    ["a*b", "a\\*", "b", "b"],
    ["a]b", "a[]]", "a]b", "a]b"],
    ["a-b", "a[\\-x]", "b", "b"],
    ["a[b", "a[", "a[b", "a[b"],
    ["ab", "a\\", "ab", "ab"],
    ["a/b/c", "*/", "b/c", "c"],
    ["aé€x", "a?*x", "", ""],
    ["é€x", "*?x", "", ""],
    ["é€x", "[à-é]€", "x", "x"],
    ["é€x", "*€", "x", "x"],
    ["a€b€", "*[€]", "b€", ""],
  ])("for %s, %s leaves %j with the shortest and %j with the longest match", (value, pattern, shortest, longest) => {
    expect([trimmed(value, pattern, "shortest"), trimmed(value, pattern, "longest")]).toEqual([shortest, longest]);
  });

  test("is found over more elements than a machine word has bits", () => {
    for (const length of [31, 32, 33, 63, 64, 65, maxGlobBytes - 2]) {
      const run = "a".repeat(length);
      expect(trimmed(`${run}bb`, `${run}b`, "longest")).toBe("b");
      expect(trimmed(`xx${run}b`, `*${run}`, "shortest")).toBe("b");
      expect(trimmed(`${run}b`, `*b${run}`, "longest")).toBe(`${run}b`);
    }
  });

  test("is found by the first match of each part, even if a later match starts inside a character", () => {
    expect(trimPrefix(bytesOf("€€"), "*?*?*?", "longest", new StepBudget(1_000))).toBe("\xac");
  });
});

describe("the steps of a pattern", () => {
  const spent = (value: string, pattern: string): number => {
    const budget = new StepBudget(Infinity);
    trimPrefix(value, pattern, "longest", budget);
    return budget.spent;
  };

  test("are at most a dozen per byte of the value, for any pattern", () => {
    const value = "a".repeat(maxGlobbedBytes);
    for (const pattern of [`*${"a".repeat(125)}b*`, `*${"a".repeat(254)}b`, "*a".repeat(128), "*[^b]".repeat(51)]) {
      expect(spent(value, pattern)).toBeLessThanOrEqual(12 * maxGlobbedBytes);
    }
    expect(spent(bytesOf("é".repeat(maxGlobbedBytes / 2)), `*${"a".repeat(255)}`)).toBeLessThan(12 * maxGlobbedBytes);
  });

  test("end with the budget if a value beyond ASCII must be compared prefix by prefix", () => {
    const value = bytesOf(`é${"a".repeat(300)}`);
    expect(() => trimPrefix(value, `*${"?".repeat(100)}b*`, "longest", new StepBudget(10_000))).toThrow(
      "more than 10000 steps",
    );
  });
});
