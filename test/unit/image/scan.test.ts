import { describe, expect, test } from "vitest";
import { ImageRepositorySpec, maxExclusions } from "../../../lib/api/image-repository.ts";
import { maxRegexLength } from "../../../lib/image/compile-regex.ts";
import { maxExcludingMs, scanTags } from "../../../lib/image/scan.ts";
import { tagsRevision } from "../../../lib/image/tags-revision.ts";
import { never } from "../../contract/state-back-end.ts";

const scan = (tags: readonly string[], exclusions: readonly string[] = [], maxMs = maxExcludingMs) =>
  scanTags(tags, exclusions, never, maxMs);

describe("a scan", () => {
  test(`allows ${maxExclusions} expressions, as in Flux, and no more`, () => {
    const spec = (count: number) => ({ image: "a", interval: "1m", exclusionList: Array(count).fill("x") });
    expect(ImageRepositorySpec.safeParse(spec(maxExclusions)).success).toBe(true);
    expect(ImageRepositorySpec.safeParse(spec(maxExclusions + 1)).success).toBe(false);
  });

  test("image-automation/8: matches an expression anywhere in a tag", async () => {
    expect((await scan(["1.0.0", "1.0.0-rc1", "arch"], ["rc"])).tags).toEqual(["1.0.0"]);
  });

  test("supports flags in an expression, as in Go", async () => {
    expect((await scan(["latest", "LATEST", "1"], ["(?i)LaTeSt"])).tags).toEqual(["1"]);
  });

  test("sorts by bytes, so that 9 comes before 10, and an emoji after other characters", async () => {
    expect((await scan(["10", "9", "B", "a", "\uffff", "😀"])).tags).toEqual(["😀", "\uffff", "a", "B", "9", "10"]);
  });

  test("counts a tag that is listed twice twice", async () => {
    expect(await scan(["1", "1"])).toMatchObject({ tags: ["1", "1"], latest: ["1", "1"] });
  });

  test.each([
    ["[", "error parsing regexp: missing closing ]: `[`"],
    ["a\\", "error parsing regexp: trailing backslash at end of expression: ``"],
    ["(?=x)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"],
    ["x".repeat(maxRegexLength + 1), `it has more than ${maxRegexLength} characters`],
  ])("reports an expression that does not compile with Go's message", async (pattern, why) => {
    await expect(scan(["1"], [pattern])).rejects.toThrow(`failed to compile regex ${pattern}: ${why}`);
  });

  test("refuses expressions that take too long, on any machine", async () => {
    const tags = Array.from({ length: 2_000 }, (_, index) => `${"a".repeat(100)}${index}`);
    await expect(scan(tags, ["(a|aa)+$"], 0)).rejects.toThrow(
      "the expressions of spec.exclusionList took more than 0 ms on 2000 tags: write simpler ones",
    );
  });
});

describe("the revision of tags is the same as in Flux's controller", () => {
  const many = Array.from({ length: 500 }, (_, index) => `1.${Math.floor(index / 10)}.${index % 10}`);
  test.each([
    ["no tag", [], "18153657"],
    ["one", ["1.0.0"], "160432618"],
    ["two", ["1.1.0", "1.0.0"], "495453000"],
    ["words and numbers", ["latest", "9.0.0", "10.0.0"], "1726088828"],
    ["500 tags", many.toSorted().toReversed(), "2071595738"],
  ])("%s, as recorded", (_what, tags, revision) => {
    expect(tagsRevision(tags)).toBe(revision);
  });

  test("characters that Go escapes in JSON are escaped here too", () => {
    expect(tagsRevision(["<"])).not.toBe(tagsRevision(["\\u003c"]));
    expect(tagsRevision(["<&>\u2028"])).toBe(adlerOf('["\\u003c\\u0026\\u003e\\u2028"]'));
  });
});

/** Adler-32 by its definition. */
function adlerOf(text: string): string {
  let [a, b] = [1, 0];
  for (const byte of Buffer.from(text)) [a, b] = [(a + byte) % 65_521, (b + a + byte) % 65_521];
  return String(b * 65_536 + a);
}
