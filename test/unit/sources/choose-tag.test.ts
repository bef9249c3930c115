import { describe, expect, test } from "vitest";
import { chooseTag, maxChoosingMs } from "../../../lib/sources/oci/choose-tag.ts";
import { maxGroups, maxRangeBytes } from "../../../lib/sources/semver-range.ts";
import { maxFilterLength } from "../../../lib/sources/versions-in.ts";

const plain = { filter: undefined, isChart: false };
const forever = new AbortController().signal;
const choose = (tags: readonly string[], wanted: Parameters<typeof chooseTag>[1]) => chooseTag(tags, wanted, forever);

describe("choosing a tag from a range", () => {
  test("keeps the spelling of the tag", async () => {
    expect(await choose(["1.0.0", "1.1.0-rc.1", "v1.0.5", "latest", "1.2"], { ...plain, semver: "1.x" })).toBe(
      "v1.0.5",
    );
  });

  test("does not depend on the order of tags that differ only in their build metadata", async () => {
    const tags = ["1.0.0", "v1.0.0"];
    const chosen = [tags, tags.toReversed()].map((all) => choose(all, { ...plain, semver: "*" }));
    expect(await Promise.all(chosen)).toEqual(["v1.0.0", "v1.0.0"]);
  });

  test("11.3/85: in a chart's tag the build metadata follows an underscore", async () => {
    const tags = ["1.2.3_build1", "1.2.2"];
    expect(await choose(tags, { semver: "1.2.x", filter: undefined, isChart: true })).toBe("1.2.3_build1");
    expect(await choose(tags, { semver: "1.2.x", filter: undefined, isChart: false })).toBe("1.2.2");
  });

  test("11.3/64: the filter may match anywhere in a tag", async () => {
    const tags = ["1.0.0", "1.3.0-rc.1", "1.4.0-beta"];
    expect(await choose(tags, { semver: ">=1.0.0-0", filter: "rc", isChart: false })).toBe("1.3.0-rc.1");
  });

  test.each([
    {
      semver: ">=9.0.0",
      filter: undefined,
      message: "no match found for semver: >=9.0.0",
    },
    {
      semver: "nonsense",
      filter: undefined,
      message: `semver 'nonsense' parse error: improper constraint: "nonsense"`,
    },
    { semver: "*", filter: "(", message: /^error parsing regexp: missing closing \): `\(`$/ },
    // Go takes two groups of one name.
    { semver: "*", filter: "(?P<n>1)(?P<n>.)", message: /^error parsing regexp: / },
  ])("is refused for $semver with $filter", async ({ semver, filter, message }) => {
    await expect(choose(["1.0.0"], { semver, filter, isChart: false })).rejects.toThrow(message);
  });

  test("a filter that would hang a backtracking engine takes time linear in the tag's length", async () => {
    const tags = [`${"a".repeat(120)}!`, "1.0.0"];
    await expect(choose(tags, { semver: "*", filter: "^(a+)+$", isChart: false })).rejects.toThrow("no match found");
  });
});

describe("limits on the texts of an OCIRepository's ref", () => {
  const tags = ["1.0.0"];

  test("apply to the range, with the message of Flux's library", async () => {
    const range = (length: number): string => "1".padEnd(length);
    expect(await choose(tags, { ...plain, semver: range(maxRangeBytes - 1) })).toBe("1.0.0");
    expect(await choose(tags, { ...plain, semver: range(maxRangeBytes) })).toBe("1.0.0");
    await expect(choose(tags, { ...plain, semver: range(maxRangeBytes + 1) })).rejects.toThrow(
      "' parse error: constraint string is too long (max 512 bytes)",
    );
    const groups = (count: number): string => Array(count).fill("1").join("||");
    expect(await choose(tags, { ...plain, semver: groups(maxGroups) })).toBe("1.0.0");
    await expect(choose(tags, { ...plain, semver: groups(maxGroups + 1) })).rejects.toThrow(
      `semver '${groups(maxGroups + 1)}' parse error: too many constraint groups (max 32)`,
    );
  });

  test("apply to the filter", async () => {
    const filter = (length: number): string => `^1|${"x".repeat(length - 3)}`;
    const chosen = (length: number) => choose(tags, { semver: "*", filter: filter(length), isChart: false });
    expect(await chosen(maxFilterLength - 1)).toBe("1.0.0");
    expect(await chosen(maxFilterLength)).toBe("1.0.0");
    await expect(chosen(maxFilterLength + 1)).rejects.toThrow(`has more than ${maxFilterLength} characters`);
  });

  test("shorten a long text in the message", async () => {
    const refusal: unknown = await choose(tags, { ...plain, semver: "1 || ".repeat(100_000) }).catch(String);
    expect(String(refusal)).toMatch(/^RangeError: semver '1 .{500,510}' parse error: constraint string is too long/);
  });
});

describe("the time limit of a tag filter", () => {
  const slow = { semver: "*", filter: "(?:[a-f0-9]?){450}[a-f0-9]{450}$", isChart: false };
  const tags = Array.from({ length: 20 }, (_, index) => `1.0.${index}-${"a1b2c3d4".repeat(15)}`);

  test("aborts the filter when it is reached", async () => {
    await expect(chooseTag(tags, slow, forever, 1)).rejects.toThrow(
      "semver and semverFilter take more than 0.001 s for 20 tags",
    );
    await expect(chooseTag(tags, slow, forever, maxChoosingMs)).rejects.toThrow("no match found");
  });

  test("lets other tasks run meanwhile, and an aborted run stops the filter", async () => {
    const stop = new AbortController();
    // So many that no machine is done with them in one turn.
    const many = Array.from({ length: 100 }, () => tags).flat();
    const choosing = chooseTag(many, slow, stop.signal);
    setImmediate(() => stop.abort(new Error("the run has ended")));
    await expect(choosing).rejects.toThrow("the run has ended");
  });
});
