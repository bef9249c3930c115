import { describe, expect, test } from "vitest";
import { GitFault } from "../../../../../lib/sources/git/git-fault.ts";
import { isRefName, readRefspec } from "../../../../../lib/sources/git/write/refspec.ts";

const refused = (message: string) => new GitFault("refused", message);
const instead = "write refs/heads/auto:<destination>";

describe("a refspec of the push branch auto", () => {
  test.each([
    ["refs/heads/auto:refs/heads/main", "refs/heads/main", false],
    ["+refs/heads/auto:refs/heads/main", "refs/heads/main", true],
    ["refs/heads/auto:refs/for/main%topic=images", "refs/for/main%topic=images", false],
    ["refs/heads/*:refs/mirror/*", "refs/mirror/auto", false],
    ["refs/heads/a*:refs/mirror/$&*", "refs/mirror/$&uto", false],
  ])("image-automation/54: %s moves %s, by force: %s", (text, ref, force) => {
    expect(readRefspec(text, "auto")).toEqual({ ref, force });
  });

  test.each(["refs/heads/main", "a:b:c", "", "+"])("%j has invalid separators", (text) => {
    expect(() => readRefspec(text, "auto")).toThrow(
      refused(`malformed refspec, separators are wrong: ${JSON.stringify(text)} is not source:destination; ${instead}`),
    );
  });

  test.each([
    ["HEAD:refs/for/main", "HEAD is not the branch that was pushed, refs/heads/auto"],
    ["refs/heads/main:refs/heads/x", "refs/heads/main is not the branch that was pushed, refs/heads/auto"],
    ["auto:main", "auto is not the branch that was pushed, refs/heads/auto"],
    ["refs/heads/auto*o:refs/heads/*", "refs/heads/auto*o is not the branch that was pushed, refs/heads/auto"],
    [":refs/heads/main", "a push of Sluice removes no reference"],
  ])(
    "image-automation/54: %j has a source that pushes nothing, and the message says what to write instead",
    (text, why) => {
      expect(() => readRefspec(text, "auto")).toThrow(
        refused(
          `failed to push to remote: already up-to-date: in the refspec ${JSON.stringify(text)} ${why}; ${instead}`,
        ),
      );
    },
  );

  test("that names the branch itself moves nothing", () => {
    expect(() => readRefspec("refs/heads/auto:refs/heads/auto", "auto")).toThrow(
      refused(
        'failed to push to remote: already up-to-date: the refspec "refs/heads/auto:refs/heads/auto" names the branch that was pushed already; name another destination, or remove it',
      ),
    );
  });

  test.each(["refs/heads/*:refs/heads/main", "refs/heads/auto:refs/x/*", "refs/*/*:refs/x/*/*"])(
    "%s has stars that do not match",
    (text) => {
      expect(() => readRefspec(text, "auto")).toThrow("malformed refspec, mismatched number of wildcards");
    },
  );

  test.each(["main", "", "refs/heads/a b", "refs/heads/a..b", "refs/heads/a\0report-status", "refs/heads/x.lock"])(
    "must not go to %j",
    (destination) => {
      expect(() => readRefspec(`refs/heads/auto:${destination}`, "auto")).toThrow(
        "is not the full name of a reference, such as refs/heads/main",
      );
    },
  );
});

test.each([
  ["refs/heads/main", true],
  ["refs/heads/feature/é", true],
  ["HEAD", false],
  ["refs/heads/", false],
  ["refs//a", false],
  ["refs/heads/.a", false],
  ["refs/heads/a.", false],
  ["refs/heads/@{1}", false],
  ["refs/heads/a\nb", false],
])("%j is a valid reference name: %s", (name, is) => {
  expect(isRefName(name)).toBe(is);
});
