import { describe, expect, test } from "vitest";
import { chooseTag, maxFilterLength, maxRangeLength } from "../../../lib/sources/oci/choose-tag.ts";

const plain = { filter: undefined, isChart: false };

describe("the tag of a range", () => {
  test("keeps its spelling", () => {
    expect(chooseTag(["1.0.0", "1.1.0-rc.1", "v1.0.5", "latest", "1.2"], { ...plain, semver: "1.x" })).toBe("v1.0.5");
  });

  test("is the same whatever the order of tags that differ in their build only", () => {
    const tags = ["1.0.0", "v1.0.0"];
    const chosen = [tags, tags.toReversed()].map((all) => chooseTag(all, { ...plain, semver: "*" }));
    expect(chosen).toEqual(["v1.0.0", "v1.0.0"]);
  });

  test("11.3/85: of a chart has its build after an underscore", () => {
    const tags = ["1.2.3_build1", "1.2.2"];
    expect(chooseTag(tags, { semver: "1.2.x", filter: undefined, isChart: true })).toBe("1.2.3_build1");
    expect(chooseTag(tags, { semver: "1.2.x", filter: undefined, isChart: false })).toBe("1.2.2");
  });

  test("11.3/64: is among those that the filter finds anywhere in their text", () => {
    const tags = ["1.0.0", "1.3.0-rc.1", "1.4.0-beta"];
    expect(chooseTag(tags, { semver: ">=1.0.0-0", filter: "rc", isChart: false })).toBe("1.3.0-rc.1");
  });

  test.each([
    { semver: ">=9.0.0", filter: undefined, message: "no match found for semver: >=9.0.0" },
    {
      semver: "nonsense",
      filter: undefined,
      message: `semver 'nonsense' parse error: improper constraint: "nonsense"`,
    },
    { semver: "*", filter: "(", message: /^semverFilter '\(' parse error: / },
  ])("is refused for $semver with $filter", ({ semver, filter, message }) => {
    expect(() => chooseTag(["1.0.0"], { semver, filter, isChart: false })).toThrow(message);
  });

  test("a filter that would hang a backtracking engine is done in time linear to the tag", () => {
    const tags = [`${"a".repeat(120)}!`, "1.0.0"];
    expect(() => chooseTag(tags, { semver: "*", filter: "^(a+)+$", isChart: false })).toThrow("no match found");
  });
});

describe("the texts of a reference have limits", () => {
  const tags = ["1.0.0"];

  test("the range", () => {
    const range = (length: number): string => "1".padEnd(length);
    expect(chooseTag(tags, { ...plain, semver: range(maxRangeLength - 1) })).toBe("1.0.0");
    expect(chooseTag(tags, { ...plain, semver: range(maxRangeLength) })).toBe("1.0.0");
    expect(() => chooseTag(tags, { ...plain, semver: range(maxRangeLength + 1) })).toThrow(
      `has more than ${maxRangeLength} characters`,
    );
  });

  test("the filter", () => {
    const filter = (length: number): string => `^1|${"x".repeat(length - 3)}`;
    const choose = (length: number): string => chooseTag(tags, { semver: "*", filter: filter(length), isChart: false });
    expect(choose(maxFilterLength - 1)).toBe("1.0.0");
    expect(choose(maxFilterLength)).toBe("1.0.0");
    expect(() => choose(maxFilterLength + 1)).toThrow(`has more than ${maxFilterLength} characters`);
  });

  test("a long one is not quoted whole", () => {
    const semver = "1 || ".repeat(100_000);
    const refusal = (() => {
      try {
        return chooseTag(tags, { ...plain, semver });
      } catch (error) {
        return String(error);
      }
    })();
    expect(refusal.length).toBeLessThan(400);
  });
});
