import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIgnoreFile } from "../../../lib/sources/archive/ignore-pattern.ts";
import { ignoreBy, sourcePatterns } from "../../../lib/sources/archive/ignore-rules.ts";

/** Which of these files a source's rules leave in. */
function kept(
  files: readonly string[],
  ignoreFiles: Readonly<Record<string, string>>,
  specIgnore?: string,
): readonly string[] {
  const texts = Object.entries(ignoreFiles).map(([path, text]) => ({ path, text }));
  const ignore = ignoreBy(sourcePatterns(texts, specIgnore));
  return files.filter((path) => !ignore(path, false));
}

describe("what a source leaves out", () => {
  test("11.1/18: pictures, by default and only by default", () => {
    expect(kept(["logo.png", "a.yaml"], {})).toEqual(["a.yaml"]);
    expect(kept(["logo.png", "docs/x.md"], { ".sourceignore": "/docs/\n" })).toEqual(["logo.png"]);
  });

  test("11.1/19: comments in spec.ignore are no patterns, so the defaults stay", () => {
    expect(kept(["logo.png", "sub/.sops.yaml", "a.yaml"], {}, "# nothing\n\n")).toEqual(["a.yaml"]);
  });

  test("11.1/20: spec.ignore comes after the ignore files", () => {
    const files = ["README.md", "docs/other.md", "a.yaml"];
    expect(kept(files, { ".sourceignore": "*.md\n" }, "!README.md")).toEqual(["README.md", "a.yaml"]);
  });

  test("11.1/21: a folder is taken in again below an excluded one", () => {
    const files = ["a.yaml", "deploy/b.yaml", "deploy/sub/c.yaml", "other/d.yaml"];
    expect(kept(files, {}, "/*\n!/deploy\n")).toEqual(["deploy/b.yaml", "deploy/sub/c.yaml"]);
    expect(kept(files, {}, "/*\n!/deploy/sub\n")).toEqual(["deploy/sub/c.yaml"]);
  });

  test("11.1/22: an ignore file holds below its folder only", () => {
    const files = ["a.txt", "sub/b.txt", "sub/deep/c.txt", "sub/d.yaml"];
    expect(kept(files, { "sub/.sourceignore": "*.txt\n" })).toEqual(["a.txt", "sub/d.yaml"]);
  });

  test("11.1/23: the version control's files stay out unless they are asked for", () => {
    const files = [".gitignore", ".git/config", "a.yaml"];
    expect(kept(files, {}, "b.yaml")).toEqual(["a.yaml"]);
    expect(kept(files, {}, "!.gitignore")).toEqual([".gitignore", "a.yaml"]);
  });
});

test("a carriage return ends the last line of an ignore file too", () => {
  expect(kept(["a.md", "b.yaml"], { ".sourceignore": "# Windows\r\n*.md\r" })).toEqual(["b.yaml"]);
});

function matchGlob(glob: string, name: string): boolean {
  return ignoreBy(parseIgnoreFile(glob))(name, false);
}

describe("one pattern", () => {
  test.each<readonly [pattern: string, matched: readonly string[], left: readonly string[]]>([
    ["*.md", ["a.md", "x/a.md", "a.md/x"], ["md", "a.md2"]],
    ["docs/", ["docs/x", "a/docs/x"], ["docs"]],
    ["/docs", ["docs", "docs/x"], ["a/docs"]],
    ["a/b", ["a/b", "a/b/c"], ["x/a/b", "a"]],
    ["a/*/c", ["a/x/c", "a/x/c/d"], ["a/c", "a/x/y/c"]],
    ["**/b", ["b", "a/b", "a/x/b"], ["bb"]],
    ["a/**/c", ["a/c", "a/x/c", "a/x/y/c"], ["c"]],
    ["a/**", ["a", "a/b", "a/b/c"], ["b"]],
    ["a**/b", [], ["a/b", "ax/b"]],
    ["/**", [], ["a", "a/b"]],
    ["[a-c]?.y", ["bx.y"], ["dx.y", "b.y"]],
    ["[^a]", ["b"], ["a", "bb"]],
    ["[", [], ["["]],
    ["\\*", ["*"], ["a"]],
    ["a ", ["a"], ["a "]],
    ["a\\ ", ["a "], ["a"]],
  ])("%s", (pattern, matched, left) => {
    const ignore = ignoreBy(parseIgnoreFile(pattern));
    expect(matched.filter((path) => !ignore(path, false))).toEqual([]);
    expect(left.filter((path) => ignore(path, false))).toEqual([]);
  });

  test("a slash at the end means folders", () => {
    const ignore = ignoreBy(parseIgnoreFile("docs/"));
    expect(ignore("docs", true)).toBe(true);
    expect(ignore("docs", false)).toBe(false);
  });

  test("many stars cost no more than the name is long", () => {
    expect(matchGlob(`${"*a".repeat(100)}b`, "a".repeat(255))).toBe(false);
  });

  test("a glob without special letters matches its own text only", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "b", ".", "-", "é"), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(matchGlob(one, other)).toBe(one === other);
        expect(matchGlob("*", other)).toBe(true);
        expect(matchGlob(`*${one}`, `${other}${one}`)).toBe(true);
        expect(matchGlob(`${one}*`, `${one}${other}`)).toBe(true);
      }),
    );
  });
});
