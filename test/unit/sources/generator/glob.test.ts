import { describe, expect, test } from "vitest";
import { compileGlob, type GlobDialect } from "../../../../lib/sources/generator/glob.ts";
import { globFiles, globRecursively } from "../../../../lib/sources/generator/glob-files.ts";
import { budget, tree } from "./trees.ts";

function matches(pattern: string, path: string, dialect: GlobDialect): boolean | "invalid" {
  return compileGlob(pattern, dialect)?.match(path).isMatch ?? "invalid";
}

// The table of Go's path/match_test.go.
test.each([
  ["abc", "abc", true],
  ["*", "abc", true],
  ["*c", "abc", true],
  ["a*", "a", true],
  ["a*", "abc", true],
  ["a*", "ab/c", false],
  ["a*/b", "abc/b", true],
  ["a*/b", "a/c/b", false],
  ["a*b*c*d*e*/f", "axbxcxdxe/f", true],
  ["a*b*c*d*e*/f", "axbxcxdxexxx/f", true],
  ["a*b*c*d*e*/f", "axbxcxdxe/xxx/f", false],
  ["a*b?c*x", "abxbbxdbxebxczzx", true],
  ["a*b?c*x", "abxbbxdbxebxczzy", false],
  ["ab[c]", "abc", true],
  ["ab[b-d]", "abc", true],
  ["ab[e-g]", "abc", false],
  ["ab[^c]", "abc", false],
  ["ab[^b-d]", "abc", false],
  ["ab[^e-g]", "abc", true],
  ["a\\*b", "a*b", true],
  ["a\\*b", "ab", false],
  ["a?b", "a☺b", true],
  ["a[^a]b", "a☺b", true],
  ["a???b", "a☺b", false],
  ["[a-ζ]*", "α", true],
  ["*[a-ζ]", "A", false],
  ["a?b", "a/b", false],
  ["a*b", "a/b", false],
  ["[\\]a]", "]", true],
  ["[\\-]", "-", true],
  ["[x\\-]", "x", true],
  ["[\\-x]", "a", false],
  ["[]a]", "]", "invalid"],
  ["[-]", "-", "invalid"],
  ["[x-]", "x", "invalid"],
  ["[a-b-c]", "a", "invalid"],
  ["[", "a", "invalid"],
  ["[^", "a", "invalid"],
  ["[^bc", "a", "invalid"],
  ["a[", "ab", "invalid"],
  ["a\\", "a", "invalid"],
  ["*x", "xxx", true],
  ["{a,b}", "{a,b}", true],
] as const)("with Go's path.Match the glob %j matches %j: %j", (pattern, path, is) => {
  expect(matches(pattern, path, "file")).toBe(is);
});

test.each([
  ["**", "a/b/c", true],
  ["**/c", "c", true],
  ["**/c", "a/b/c", true],
  ["**/c", "a/bc", false],
  ["a/**", "a", true],
  ["a/**", "a/b/c", true],
  ["a/**", "ab", false],
  ["a/**/d", "a/d", true],
  ["a/**/d", "a/b/c/d", true],
  ["a/**/d", "ad", false],
  ["**.md", "a/b.md", false],
  ["a**", "ab", true],
  ["a**", "ab/c", false],
  ["*.{yaml,yml}", "a.yml", true],
  ["*.{yaml,yml}", "a.json", false],
  ["{a,b/{c,d}}/e", "b/d/e", true],
  ["[!a]", "b", true],
  ["[!a]", "a", false],
  ["{a", "a", "invalid"],
  ["a}", "a}", "invalid"],
  ["\\{a", "{a", true],
] as const)("with doublestar the glob %j matches %j: %j", (pattern, path, is) => {
  expect(matches(pattern, path, "recursive")).toBe(is);
});

describe("a glob over a tree", () => {
  const source = tree({ "a.yaml": "", "x/a.yaml": "", "x/y/a.yaml": "", "b/a.yaml": "", "b/a.txt": "" });

  test("11.5/119: goes one folder deep with ** in each part, and returns names in order", async () => {
    expect(await globFiles(source, "**/*.yaml", budget())).toEqual(["b/a.yaml", "x/a.yaml"]);
    expect(await globFiles(source, "*", budget())).toEqual(["a.yaml", "b", "x"]);
    expect(await globFiles(source, "x/**", budget())).toEqual(["x/a.yaml", "x/y"]);
    for (const none of ["x//*", "./*", "x/*/", "../*"]) expect(await globFiles(source, none, budget())).toEqual([]);
  });

  test("goes any number of folders deep if it is recursive, each folder's own files first", async () => {
    const all = ["a.yaml", "b/a.yaml", "x/a.yaml", "x/y/a.yaml"];
    expect(await globRecursively(source, "**/*.yaml", budget())).toEqual(all);
    expect(await globRecursively(source, "x/**", budget())).toEqual(["x", "x/a.yaml", "x/y", "x/y/a.yaml"]);
  });
});

test("a glob takes time proportional to the tree, for any pattern", () => {
  const path = "a".repeat(4_000);
  for (const pattern of [`${"*a".repeat(500)}b`, `${"{a,a*}".repeat(160)}b`, `${"**/".repeat(300)}b`]) {
    expect(compileGlob(pattern, "recursive")?.match(path)).toMatchObject({ isMatch: false });
  }
  expect(compileGlob(`${"{".repeat(60)}a${"}".repeat(60)}`, "recursive")).toBeUndefined();
});
