import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSemverRange } from "../../../lib/sources/semver-range.ts";
import { compareSemver, parseSemver } from "../../../lib/sources/semver-version.ts";

function isIn(range: string, text: string): boolean {
  const version = parseSemver(text);
  if (version === undefined) throw new Error(`${text} is no version`);
  return parseSemverRange(range)(version);
}

describe("versions in a range, as in Masterminds/semver v3", () => {
  test.each<readonly [range: string, inside: readonly string[], outside: readonly string[]]>([
    ["1.x", ["1.0.0", "1.9.9", "v1.2.3"], ["2.0.0", "0.9.9", "1.2.3-rc.1"]],
    ["*", ["0.0.0", "1.2.3", "99.0.0"], ["1.2.3-alpha.1"]],
    ["*-0", ["1.2.3-alpha.1", "1.2.3"], []],
    ["2", ["2.0.0", "2.1.1"], ["1.0.0", "3.4.5"]],
    ["2.1", ["2.1.1"], ["2.2.1"]],
    ["=2.0", ["2.0.0", "2.0.1"], ["1.2.3", "2.1.0"]],
    ["=2.0.0", ["2.0.0", "2.0.0+build"], ["2.0.1"]],
    ["!=4.1.0", ["4.1.1"], ["4.1.0"]],
    ["!=4.1", ["5.1.0", "4.2.0"], ["4.1.0", "4.1.1", "5.1.0-alpha.1"]],
    ["!=4.x", ["5.1.0"], ["4.1.0"]],
    ["!=4.1-alpha", ["4.1.0"], ["4.1.0-alpha", "4.1.1-alpha"]],
    [">1.1", ["4.1.0", "1.2.0"], ["1.1.0", "1.1.9"]],
    [">11", ["12.0.0"], ["11.1.0", "11.0.0"]],
    [">0.0.0-0", ["0.0.0-alpha", "1.0.0"], ["0.0.0-0"]],
    [">=1.1", ["1.1.0", "4.1.0"], ["0.0.9", "4.1.0-beta"]],
    ["=>1.1", ["1.1.0", "4.1.0"], ["0.0.9"]],
    [">=1.0.0-0", ["1.0.0-alpha", "1.0.0", "3.4.5-beta.1"], ["0.9.9"]],
    ["<1.1", ["0.1.0"], ["1.1.0", "1.1.1"]],
    ["<1.x", ["0.1.1"], ["1.1.1", "2.0.0"]],
    ["<=11", ["11.2.3", "1.2.3"], ["12.2.3"]],
    ["<=1.1", ["1.1.0", "1.1.1", "0.1.0"], ["1.2.3", "0.1.0-alpha"]],
    ["=<1.1.x", ["1.1.9"], ["1.2.500"]],
    ["~1.2.3", ["1.2.3", "1.2.5"], ["1.2.2", "1.3.2"]],
    ["~1", ["1.3.5"], ["2.1.1"]],
    ["~>1.1", ["1.1.9"], ["1.2.3"]],
    ["~*", ["2.1.1"], []],
    ["~0.0.0", ["1.2.3"], []],
    ["~1.2.3-beta.2", ["1.2.3-beta.4", "1.2.4-beta.2"], ["1.3.4-beta.2", "1.2.3-beta.1"]],
    ["^1.2.3", ["1.8.9", "1.2.3"], ["2.8.9", "1.2.1"]],
    ["^1", ["1.0.0", "1.8.9"], ["2.8.9"]],
    ["^0.2.3", ["0.2.5"], ["0.5.6", "1.2.3"]],
    ["^0.2", ["0.2.5"], ["0.5.6"]],
    ["^0.0.3", ["0.0.3"], ["0.0.4"]],
    ["^0.0", ["0.0.3"], ["0.1.4", "1.0.4"]],
    ["^0", ["0.2.3"], ["1.1.4"]],
    ["^1.2.0-alpha.0", ["1.2.1-alpha.1"], ["1.1.9-alpha.1"]],
    [">=1.1, <2, !=1.2.3 || > 3", ["4.1.2", "1.9.0"], ["1.2.3", "3.1.2", "3.0.0"]],
    [">= 1.1 <2   != 1.2.3 || >= 3", ["3.0.0", "1.1.0"], ["1.2.3", "2.0.0"]],
    ["1.1 - 2", ["1.1.0", "1.1.1", "2.9.9"], ["3.0.0", "1.0.9"]],
    ["1.5.0 - 4.5", ["3.7.0", "4.5.9"], ["4.6.0"]],
    ["1.1-3", ["1.1.0", "1.1.9-rc.1"], ["4.3.2", "1.1.0-2"]],
  ])("11.1.12: %s", (range, inside, outside) => {
    expect(inside.filter((version) => !isIn(range, version))).toEqual([]);
    expect(outside.filter((version) => isIn(range, version))).toEqual([]);
  });

  test.each([
    // The library rewrites what stands between blanks before it looks at the rest, and takes the blanks along.
    ["1.1 2.0 - 3.0", "refused"],
    ["1.1, 2.0 - 3.0", "out"],
    ["1 ||1.0 - 2", "refused"],
    ["9 || 1.0 - 2", "in"],
    ["1.x\u00a0", "refused"],
    ["18446744073709551615.x", "out"],
    ["18446744073709551616.x", "refused"],
    ["x.18446744073709551616", "in"],
  ])("unusual ranges match as there: %j", (range, verdict) => {
    expect(judge(range, "1.2.0")).toBe(verdict);
  });

  test("a pre-release in one comparator allows pre-releases only in its own group", () => {
    expect(isIn(">=1.0.0-0 <2.0.0", "1.5.0-rc.1")).toBe(true);
    expect(isIn(">=1.0.0 <2.0.0-0", "1.5.0-rc.1")).toBe(true);
    expect(isIn(">=1.0.0 <2.0.0 || >=9.0.0-0", "1.5.0-rc.1")).toBe(false);
  });

  test.each([
    "",
    "foo",
    ">= bar",
    "BAR >= 1.2.3",
    "12.3.4.1234",
    "12.3.34~ 1.2.3",
    "1.2.3,",
    "1 ||",
    ">=1.0.0-01",
    "1a.2",
  ])("%j is not a range", (range) => {
    expect(() => parseSemverRange(range)).toThrow(RangeError);
  });
});

describe("versions", () => {
  test.each(["1.2", "v1", "latest", "1.2.3.4", "1.2.3-", "1.2.3-01", "V1.2.3", "", "1.2.x"])(
    "%j is not a version",
    (text) => {
      expect(parseSemver(text)).toBeUndefined();
    },
  );

  test("are in the order that semver.org defines", () => {
    const sorted = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11"];
    const all = [
      ...sorted,
      "1.0.0-rc.1",
      "v1.0.0",
      "1.0.1",
      "1.1.0",
      "2.0.0",
      "20260101.0.0",
      "18446744073709551615.0.0",
    ];
    expect(all.toReversed().toSorted((a, b) => compareSemver(versionOf(a), versionOf(b)))).toEqual(all);
  });

  test("may have their second dot in the pre-release, as in Flux", () => {
    expect(parseSemver("1.2-rc.1")).toMatchObject({ major: "1", minor: "2", patch: "0", pre: "rc.1" });
    expect(parseSemver("v1-a.b.c")).toMatchObject({ major: "1", minor: "0", patch: "0", pre: "a.b.c" });
  });

  test("have 64-bit numbers and at most 256 characters", () => {
    expect(parseSemver("18446744073709551615.0.0")).toBeDefined();
    expect(parseSemver("18446744073709551616.0.0")).toBeUndefined();
    expect(parseSemver(`1.0.0-${"a".repeat(250)}`)).toBeDefined();
    expect(parseSemver(`1.0.0-${"a".repeat(251)}`)).toBeUndefined();
  });

  test("leading zeros and build metadata are ignored in comparisons", () => {
    expect(compareSemver(versionOf("01.002.3"), versionOf("1.2.3+abc"))).toBe(0);
  });
});

function versionOf(text: string) {
  const version = parseSemver(text);
  if (version === undefined) throw new Error(`${text} is no version`);
  return version;
}

const number = fc.integer({ min: 0, max: 40 }).map(String);
const release = fc.tuple(number, number, number).map((parts) => parts.join("."));
const operator = fc.constantFrom("", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^");
const bound = fc.oneof(
  release,
  fc.tuple(number, number).map((parts) => parts.join(".")),
  number,
  number.map((major) => `${major}.x`),
  fc.constantFrom("*", "x"),
);

describe("properties of ranges", () => {
  test("spaces after an operator, commas and spaces between comparators do not matter", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(operator, bound), { minLength: 1, maxLength: 3 }), release, (parts, version) => {
        const texts = [
          parts.map((part) => part.join("")).join(" "),
          parts.map((part) => part.join("  ")).join(" , "),
          ` ${parts.map((part) => part.join("")).join(",")} `,
        ];
        expect(new Set(texts.map((text) => isIn(text, version))).size).toBe(1);
      }),
    );
  });

  test("two groups match if either does, two comparators if both do", () => {
    fc.assert(
      fc.property(operator, bound, operator, bound, release, (op1, one, op2, two, version) => {
        const first = isIn(`${op1}${one}`, version);
        const second = isIn(`${op2}${two}`, version);
        expect(isIn(`${op1}${one} || ${op2}${two}`, version)).toBe(first || second);
        expect(isIn(`${op1}${one} ${op2}${two}`, version)).toBe(first && second);
      }),
    );
  });

  test("a comparator and its opposite never both match if the limit is a full version", () => {
    fc.assert(
      fc.property(release, release, (one, version) => {
        expect(isIn(`<${one}`, version)).toBe(!isIn(`>=${one}`, version));
        expect(isIn(`>${one}`, version)).toBe(!isIn(`<=${one}`, version));
        expect(isIn(`=${one}`, version)).toBe(!isIn(`!=${one}`, version));
      }),
    );
  });

  test("any text is either parsed or refused", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from("0123.x*v<>=!~^-+|, ab")), maxLength: 30 }),
        (text) => {
          expect(["in", "out", "refused"]).toContain(judge(text));
        },
      ),
    );
  });
});

function judge(range: string, version = "1.2.3"): string {
  try {
    return isIn(range, version) ? "in" : "out";
  } catch (error) {
    if (error instanceof RangeError) return "refused";
    throw error;
  }
}
