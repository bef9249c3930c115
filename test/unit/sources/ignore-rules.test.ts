import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ignoreBy, ignoreInSteps, parseIgnoreFile, sourcePatterns } from "../../../lib/sources/archive/ignore-rules.ts";

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

describe("ignore rules of a source", () => {
  test("11.1/18: image files are excluded by default, and only by default", () => {
    expect(kept(["logo.png", "a.yaml"], {})).toEqual(["a.yaml"]);
    expect(kept(["logo.png", "docs/x.md"], { ".sourceignore": "/docs/\n" })).toEqual(["logo.png"]);
  });

  test("11.1/19: comments in spec.ignore do not count as patterns, so the defaults apply", () => {
    expect(kept(["logo.png", "sub/.sops.yaml", "a.yaml"], {}, "# nothing\n\n")).toEqual(["a.yaml"]);
  });

  test("11.1/20: spec.ignore is applied after the ignore files", () => {
    const files = ["README.md", "docs/other.md", "a.yaml"];
    expect(kept(files, { ".sourceignore": "*.md\n" }, "!README.md")).toEqual(["README.md", "a.yaml"]);
  });

  test("11.1/21: a folder below an excluded one can be included again", () => {
    const files = ["a.yaml", "deploy/b.yaml", "deploy/sub/c.yaml", "other/d.yaml"];
    expect(kept(files, {}, "/*\n!/deploy\n")).toEqual(["deploy/b.yaml", "deploy/sub/c.yaml"]);
    expect(kept(files, {}, "/*\n!/deploy/sub\n")).toEqual(["deploy/sub/c.yaml"]);
  });

  test("11.1/22: an ignore file applies only below its folder", () => {
    const files = ["a.txt", "sub/b.txt", "sub/deep/c.txt", "sub/d.yaml"];
    expect(kept(files, { "sub/.sourceignore": "*.txt\n" })).toEqual(["a.txt", "sub/d.yaml"]);
  });

  test.each([
    ["sub/.sourceignore", "*.txt", ["sub/x.txt", "sub/deep/x.txt"]],
    ["sub/.sourceignore", "/x.txt", ["sub/x.txt"]],
    ["sub/.sourceignore", "deep/", ["sub/deep/x.txt"]],
    ["sub/.sourceignore", "deep/x.txt", ["sub/deep/x.txt"]],
    ["sub/deep/.sourceignore", "*.txt", ["sub/deep/x.txt"]],
    [".sourceignore", "sub/", ["sub/x.txt", "sub/deep/x.txt", "other/sub/x.txt"]],
    [".sourceignore", "/sub", ["sub/x.txt", "sub/deep/x.txt"]],
    [".sourceignore", "sub-old/deep", ["sub-old/deep/x.txt"]],
  ])(
    "11.1/22: %s with %s excludes files there, and nothing in a folder with the same name prefix",
    (file, line, out) => {
      const folders = ["", "sub/", "sub/deep/", "sub-old/", "sub-old/deep/", "subs/", "other/sub/", "deep/"];
      const files = folders.map((folder) => `${folder}x.txt`);
      expect(kept(files, { [file]: `${line}\n` })).toEqual(files.filter((path) => !out.includes(path)));
    },
  );

  const versionControl = [".git/config", ".gitignore", ".gitmodules", ".gitattributes"];
  const tools = [
    ...[".github/x", ".circleci/x", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml", "cloudbuild.yaml"],
    ...["codeship-services.yml", "codeship-steps.yml", ".goreleaser.yml", ".sops.yaml", ".flux.yaml"],
  ];
  const media = ["jpg", "jpeg", "gif", "png", "wmv", "flv", "tar.gz", "zip"].map((end) => `a.${end}`);
  test.each([...versionControl, ...tools, ...media])(
    "11.1/18, 23: %s, also below, if the source has no rules",
    (file) => {
      const files = [file, `sub/${file}`, `${file}.txt`];
      expect(kept(files, {})).toEqual([`${file}.txt`].filter((path) => !/^\.git(hub)?\/|^\.circleci\//.test(path)));
      const isOwn = versionControl.includes(file);
      expect(kept([file, `sub/${file}`], {}, "/other")).toEqual(isOwn ? [] : [file, `sub/${file}`]);
    },
  );

  test("11.1/23: version control files are excluded unless a pattern includes them", () => {
    const files = [".gitignore", ".git/config", "a.yaml"];
    expect(kept(files, {}, "b.yaml")).toEqual(["a.yaml"]);
    expect(kept(files, {}, "!.gitignore")).toEqual([".gitignore", "a.yaml"]);
  });
});

test("a carriage return at the end of the last line of an ignore file is removed", () => {
  expect(kept(["a.md", "b.yaml"], { ".sourceignore": "# Windows\r\n*.md\r" })).toEqual(["b.yaml"]);
});

function matchGlob(glob: string, name: string): boolean {
  return ignoreBy(parseIgnoreFile(glob))(name, false);
}

describe("an ignore pattern", () => {
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

  test("with a slash at the end matches only folders", () => {
    const ignore = ignoreBy(parseIgnoreFile("docs/"));
    expect(ignore("docs", true)).toBe(true);
    expect(ignore("docs", false)).toBe(false);
  });

  test("with many stars takes time linear in the name's length", () => {
    expect(matchGlob(`${"*a".repeat(100)}b`, "a".repeat(255))).toBe(false);
  });

  test("without special characters matches only its own text", () => {
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

test("a long path is compared in steps with the same result, and a usual one in one step", () => {
  const stepsOf = (patterns: string, path: string) => {
    const steps = ignoreInSteps(parseIgnoreFile(patterns))(path, false);
    for (let count = 1; ; count++) {
      const { done, value } = steps.next();
      if (done === true) return { count, value };
    }
  };
  const long = `*${"a*".repeat(400)}b`;
  const path = "a".repeat(2_000);
  expect(stepsOf(`a*\n${`${long}\n`.repeat(5)}`, path)).toEqual({ count: 6, value: true });
  expect(stepsOf(`${long}\n`.repeat(5), path)).toEqual({ count: 6, value: false });
  expect(stepsOf("*.md\n!docs/*.md\nx", "docs/a.md")).toEqual({ count: 1, value: false });
});
