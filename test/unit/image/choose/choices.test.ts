import { describe, expect, test } from "vitest";
import type { ImagePolicySpec } from "../../../../lib/api/image-policy.ts";
import { choices } from "../../../../lib/image/choose/choices.ts";
import { filterTags, maxExtractedChars, maxFilterChars } from "../../../../lib/image/choose/filter-tags.ts";
import { rankingOf } from "../../../../lib/image/choose/ranking.ts";

type Policy = ImagePolicySpec["policy"];
type Filter = ImagePolicySpec["filterTags"];

const { signal } = new AbortController();
const asc = { order: "asc" } as const;
const desc = { order: "desc" } as const;

/** All that the policy would choose, in this order. The tags are given as the tag store has them: in descending order. */
async function chosen(tags: readonly string[], policy: Policy, filter?: Filter): Promise<readonly string[]> {
  const descending = tags.toSorted((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
  return all(await choices(await filterTags(descending, filter, signal), rankingOf(policy), signal));
}

async function all(ordered: AsyncIterable<string>): Promise<readonly string[]> {
  const tags: string[] = [];
  for await (const tag of ordered) tags.push(tag);
  return tags;
}

async function first(tags: readonly string[], policy: Policy, filter?: Filter): Promise<string | undefined> {
  const [best] = await chosen(tags, policy, filter);
  return best;
}

function semver(range: string): Policy {
  return { semver: { range } };
}

describe("a policy of type semver", () => {
  test("image-automation/23: selects for 1.x the highest version with three parts", async () => {
    expect(await first(["1.0.0", "1.2.0", "1.10.0", "2.0.0", "1.11"], semver("1.x"))).toBe("1.10.0");
  });

  test("image-automation/24: considers pre-releases only if the range has one", async () => {
    const tags = ["1.0.0", "1.1.0-rc1"];
    expect(await first(tags, semver(">=1.0.0"))).toBe("1.0.0");
    expect(await first(tags, semver(">=1.0.0-0"))).toBe("1.1.0-rc1");
  });

  test("image-automation/25: may select a tag with a v, and keeps the v", async () => {
    expect(await first(["1.2.2", "v1.2.3"], semver("1.x"))).toBe("v1.2.3");
  });

  test("image-automation/26: accepts 2025.02.03 as a version, but not 2025.02", async () => {
    expect(await chosen(["2025.02.03", "2025.02"], semver(">=1.0.0"))).toEqual(["2025.02.03"]);
  });

  test("selects the first in descending order among equal versions", async () => {
    expect(await first(["1.0.0", "v1.0.0", "1.0.0+a"], semver("1.x"))).toBe("v1.0.0");
  });

  test("fails and retries if no version is in the range", async () => {
    const said = {
      reason: "Failure",
      retry: "backoff",
      message:
        "unable to determine latest version from provided list; none of 1 tags is a version in spec.policy.semver.range '>=3.0.0'",
    };
    await expect(first(["1.0.0"], semver(">=3.0.0"))).rejects.toMatchObject(said);
  });

  test("image-automation/31: stalls with an invalid range", async () => {
    const message = 'invalid policy: improper constraint: "not a range"';
    await expect(first(["1.0.0"], semver("not a range"))).rejects.toMatchObject({
      reason: "InvalidPolicy",
      retry: "never",
      message,
    });
  });
});

describe("a policy of type alphabetical", () => {
  test("image-automation/27: selects with asc the greatest text by its bytes, with desc the least", async () => {
    const tags = ["B", "a", "Z", "z", "1"];
    expect(await chosen(tags, { alphabetical: asc })).toEqual(["z", "a", "Z", "B", "1"]);
    expect(await first(tags, { alphabetical: desc })).toBe("1");
  });

  test("sorts characters beyond U+FFFF after all others", async () => {
    const filter = { pattern: "(a)|b", extract: "\u{1F600}$1" };
    const other = { pattern: "(a)|b", extract: "\uFF5E$1" };
    const keys = [...(await filterTags(["a"], filter, signal)), ...(await filterTags(["b"], other, signal))];
    const ordered = await choices(keys, rankingOf({ alphabetical: asc }), signal);
    expect(await all(ordered)).toEqual(["a", "b"]);
  });
});

describe("a policy of type numerical", () => {
  test("image-automation/28: selects with asc the greatest number, and one invalid tag fails the whole list", async () => {
    expect(await first(["1", "2", "10"], { numerical: asc })).toBe("10");
    expect(await first(["1", "2", "10"], { numerical: desc })).toBe("1");
    await expect(first(["1", "2", "10", "foo"], { numerical: asc })).rejects.toMatchObject({
      reason: "Failure",
      message:
        "failed to parse invalid numeric value 'foo'; leave such tags out with spec.filterTags.pattern, or take the number out of them with spec.filterTags.extract",
    });
  });

  // As recorded in image-policy-order/04-forms-of-numbers.
  test.each([
    ["^(0x1p9|10)$", "0x1p9"],
    ["^(1e3|10)$", "1e3"],
    ["^(1_0)$", "1_0"],
    ["^(010|9.5)$", "010"],
    ["^(inf|10)$", "inf"],
    ["^(9.5|2|1)$", "9.5"],
    ["^(NaN)$", "NaN"],
  ])("of the tags %s the greatest number is %s", async (pattern, tag) => {
    const tags = ["1", "2", "10", "a", "9.5", "1e3", "0x1p9", "inf", "NaN", "1_0", "010"];
    expect(await first(tags, { numerical: asc }, { pattern })).toBe(tag);
  });

  test("selects the least tag among equal numbers, as in Flux", async () => {
    expect(await first(["9007199254740992", "9007199254740993"], { numerical: asc })).toBe("9007199254740992");
  });

  test("replaces NaN by any later number, as in Flux", async () => {
    expect(await first(["inf", "NaN", "5"], { numerical: asc })).toBe("5");
  });
});

describe("the type of a policy", () => {
  test("image-automation/32: if it is missing, the policy stalls", async () => {
    await expect(first(["1.0.0"], {})).rejects.toMatchObject({
      reason: "InvalidPolicy",
      retry: "never",
      message: "invalid policy: given ImagePolicyChoice object is invalid",
    });
  });

  test("is the first of semver, alphabetical and numerical if several are set", async () => {
    const tags = ["1.0.0", "1.1.0", "z"];
    expect(await first(tags, { ...semver("1.x"), alphabetical: asc, numerical: asc })).toBe("1.1.0");
    expect(await first(tags, { alphabetical: desc, numerical: asc })).toBe("1.0.0");
  });
});

describe("filterTags of a policy", () => {
  const byTimestamp = { pattern: "^main-[a-f0-9]+-(?P<ts>[0-9]+)", extract: "$ts" };

  test("image-automation/29: the extracted text is ranked, and the whole tag is selected", async () => {
    const tags = ["main-fff-10", "main-aaa-9", "main-bbb-11", "1.0.0", "latest"];
    expect(await chosen(tags, { numerical: asc }, byTimestamp)).toEqual(["main-bbb-11", "main-fff-10", "main-aaa-9"]);
  });

  test("a pattern matches anywhere in a tag, and an empty one matches every tag", async () => {
    expect(await chosen(["1.0.0-rc1", "1.0.0"], { alphabetical: asc }, { pattern: "rc" })).toEqual(["1.0.0-rc1"]);
    expect(await chosen(["a", "b"], { alphabetical: asc }, { pattern: "" })).toEqual(["b", "a"]);
  });

  test("of tags with the same extract the least is selected", async () => {
    expect(await chosen(["main-a-1", "main-c-1", "main-b-1"], { numerical: asc }, byTimestamp)).toEqual([
      "main-a-1",
      "main-b-1",
      "main-c-1",
    ]);
  });

  test("image-automation/33: a filter that matches no tag fails and retries", async () => {
    await expect(first(["1.0.0"], { alphabetical: asc }, { pattern: "^feature-" })).rejects.toMatchObject({
      reason: "Failure",
      retry: "backoff",
      message: "version list argument cannot be empty; spec.filterTags.pattern '^feature-' matches none of 1 tags",
    });
  });

  test("image-automation/30: an invalid pattern stalls with Go's text", async () => {
    const message =
      "failed to filter tags: invalid regular expression pattern '(': error parsing regexp: missing closing ): `(`";
    await expect(first(["1.0.0"], { alphabetical: asc }, { pattern: "(" })).rejects.toMatchObject({
      reason: "InvalidPolicy",
      retry: "never",
      message,
    });
  });
});

describe("limits of a policy", () => {
  test("a pattern or template of more than maxFilterChars stalls and names its field", async () => {
    const long = "a".repeat(maxFilterChars + 1);
    await expect(filterTags(["a"], { pattern: long }, signal)).rejects.toMatchObject({
      reason: "InvalidPolicy",
      message: expect.stringMatching(
        /^failed to filter tags: spec.filterTags.pattern 'a+…?.*' has more than 1024 characters: shorten it$/,
      ),
    });
    await expect(filterTags(["a"], { pattern: "a", extract: long }, signal)).rejects.toMatchObject({
      message: "failed to filter tags: spec.filterTags.extract has more than 1024 characters: shorten it",
    });
  });

  test("a template that makes more than maxExtractedChars from all tags stalls", async () => {
    const tags = Array.from({ length: 100 }, (_, index) => `${index}-`.padEnd(128, "a"));
    const extract = "$0".repeat(maxFilterChars / 2);
    await expect(filterTags(tags, { pattern: ".*", extract }, signal)).rejects.toMatchObject({
      reason: "InvalidPolicy",
      message: `failed to filter tags: spec.filterTags.extract makes more than ${maxExtractedChars} characters of the tags: shorten it`,
    });
  });

  test("a pattern that takes longer than maxFilteringMs for the tags stalls", async () => {
    await expect(filterTags(["a"], { pattern: "a" }, signal, -1)).rejects.toMatchObject({
      reason: "InvalidPolicy",
      message: "failed to filter tags: spec.filterTags.pattern takes more than -0.001 s for the tags: simplify it",
    });
  });
});
