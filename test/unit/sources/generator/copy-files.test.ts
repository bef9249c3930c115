import { describe, expect, test } from "vitest";
import type { CopyOperation } from "../../../../lib/api/artifact-generator.ts";
import { gzip } from "../../../../lib/sources/archive/pack-tar.ts";
import { copyFiles } from "../../../../lib/sources/generator/copy-files.ts";
import type { FileTree } from "../../../../lib/sources/generator/file-tree.ts";
import { defaultGeneratorLimits } from "../../../../lib/sources/generator/generator-limits.ts";
import { maxGlobChars } from "../../../../lib/sources/generator/glob.ts";
import { maxDocuments } from "../../../../lib/sources/generator/merge-yaml.ts";
import { artifactOf } from "../../manifests/build-files.ts";
import { tarOf } from "../tar-of.ts";
import { budget, textsOf, tree } from "./trees.ts";

const source = {
  "f.yaml": "f",
  "dir/f.yaml": "dir/f",
  "dir/g.txt": "dir/g",
  "dir/sub/h.yaml": "dir/sub/h",
};

async function copied(
  operations: readonly (readonly [from: string, to: string, more?: Partial<CopyOperation>])[],
  files: Readonly<Record<string, string | Uint8Array>> = source,
  change: Parameters<typeof budget>[0] = {},
): Promise<FileTree> {
  const list = operations.map(([from, to, more = {}]) => ({ from, to: `@artifact/${to}`, ...more }));
  return copyFiles(list, new Map([["a", tree(files)]]), budget(change));
}

const paths = async (...operations: Parameters<typeof copied>[0]) =>
  Object.keys(await textsOf(await copied(operations)));

describe("the operation Copy of an ArtifactGenerator", () => {
  test.each([
    ["@a/", "x", ["x/dir/f.yaml", "x/dir/g.txt", "x/dir/sub/h.yaml", "x/f.yaml"]],
    ["@a/dir", "x", ["x/dir/f.yaml", "x/dir/g.txt", "x/dir/sub/h.yaml"]],
    ["@a/dir/", "x/", ["x/dir/f.yaml", "x/dir/g.txt", "x/dir/sub/h.yaml"]],
    ["@a/dir/**", "x", ["x/f.yaml", "x/g.txt", "x/sub/h.yaml"]],
    ["@a/dir/*.yaml", "x", ["x/dir/f.yaml"]],
    ["@a/**", "x", ["x/dir/f.yaml", "x/dir/g.txt", "x/dir/sub/h.yaml", "x/f.yaml"]],
    ["@a/**/*.yaml", "", ["dir/f.yaml"]],
    ["@a/f.yaml", "x/", ["x/f.yaml"]],
    ["@a/f.yaml", "", ["f.yaml"]],
    ["@a/f.yaml", "y.yaml", ["y.yaml"]],
    ["@a/dir/../f.yaml", "x/../y.yaml", ["y.yaml"]],
  ])("11.5/118, 119: %s to @artifact/%s is %j", async (from, to, files) => {
    expect(await paths([from, to])).toEqual(files);
  });

  test("puts a file into an existing folder", async () => {
    expect(await paths(["@a/dir/sub/**", "y"], ["@a/f.yaml", "y"])).toEqual(["y/f.yaml", "y/h.yaml"]);
  });

  test("a later operation replaces files of an earlier one", async () => {
    const made = await copied([
      ["@a/f.yaml", "out.yaml"],
      ["@a/dir/f.yaml", "out.yaml"],
    ]);
    expect(await textsOf(made)).toEqual({ "out.yaml": "dir/f" });
  });

  test.each([
    [["*.yaml"], ["x/g.txt"]],
    [["dir/sub"], ["x/f.yaml", "x/g.txt"]],
    [["sub/**"], ["x/f.yaml", "x/g.txt"]],
    [["**/h.yaml", "g.*"], ["x/f.yaml"]],
    [["{f,h}.yaml"], ["x/g.txt"]],
  ])("excludes %j are matched against the path, the path below the folder, or the name", async (exclude, files) => {
    expect(await paths(["@a/dir/**", "x", { exclude }])).toEqual(files);
  });

  test("leaves out a single excluded file without an error", async () => {
    expect(await paths(["@a/f.yaml", "x", { exclude: ["*.yaml"] }])).toEqual([]);
  });

  test.each([
    ["@b/f.yaml", "x", {}, "source alias 'b' not found"],
    ["@a/none", "x", {}, "source 'none' does not exist"],
    ["@a/none/*", "x", {}, "no files match pattern 'none/*' in source 'a'"],
    ["@a/*.yaml", "x", { exclude: ["*"] }, "all files matching pattern '*.yaml' in source 'a' were excluded"],
    ["@a/f.yaml", "x", { exclude: ["["] }, "invalid exclude pattern '['"],
    ["@a/[", "x", {}, "invalid glob pattern '[': syntax error in pattern"],
    ["@a/../f.yaml", "x", {}, "failed to stat source '../f.yaml': statat ../f.yaml: path escapes from parent"],
    ["@a/f.yaml", "../x", {}, "openat ../x: path escapes from parent"],
    ["@a/f.yaml", "/x", {}, "openat /x: path escapes from parent"],
    ["@a/dir", "x", { strategy: "Extract" }, "extract strategy is not supported for directories, got 'dir'"],
    [
      "@a/f.yaml",
      "x",
      { strategy: "Extract" },
      "extract strategy requires tarball file (.tar.gz or .tgz), got 'f.yaml'",
    ],
  ] satisfies [string, string, Partial<CopyOperation>, string][])(
    "%s to @artifact/%s with %j fails: %s",
    async (from, to, more, why) => {
      const what = `failed to apply copy operation from '${from}' to '@artifact/${to}'`;
      await expect(copied([[from, to, more]])).rejects.toThrow(`failed to apply copy operations: ${what}: ${why}`);
    },
  );

  test("refuses an exclude that is longer than the definition allows", async () => {
    const exclude = ["x".repeat(maxGlobChars)];
    expect(Object.keys(await textsOf(await copied([["@a/f.yaml", "x", { exclude }]])))).toEqual(["x"]);
    await expect(copied([["@a/f.yaml", "x", { exclude: [`${exclude[0]}x`] }]])).rejects.toThrow(
      `has more than ${maxGlobChars} characters`,
    );
  });

  test("refuses copies that take too many steps", async () => {
    const many = Array.from({ length: 50 }, (_, index) => ["@a/", `x${index}`] as const);
    await expect(copied(many, source, { maxSteps: 100 })).rejects.toThrow("take more than 100 steps");
  });
});

describe("the operation Merge of an ArtifactGenerator", () => {
  const merge = { strategy: "Merge" } as const;
  const merged = async (base: string, overlay: string) => {
    const made = await copied(
      [
        ["@a/base", "values.yaml"],
        ["@a/overlay", "values.yaml", merge],
      ],
      { base, overlay },
    );
    return (await textsOf(made))["values.yaml"];
  };

  test("11.5/120: merges mappings, replaces lists, and rewrites the file with sorted keys", async () => {
    const base = "# a comment\nz: 1\nimage:\n  tag: v1\n  name: app\nlist: [a, b]\n";
    expect(await merged(base, "image:\n  tag: v2\nlist: [c]\nb: yes\n")).toBe(
      "b: true\nimage:\n  name: app\n  tag: v2\nlist:\n- c\nz: 1\n",
    );
  });

  test("11.5/120: copies a file that does not exist yet, and a folder", async () => {
    expect(await textsOf(await copied([["@a/f.yaml", "x.yaml", merge]]))).toEqual({ "x.yaml": "f" });
    expect(await paths(["@a/dir", "x"], ["@a/dir", "x", merge])).toEqual(await paths(["@a/dir", "x"]));
  });

  test("merges the documents of a file into one, resolves aliases, and reads an empty file as an empty mapping", async () => {
    expect(await merged("a: 1\n---\nb: &x {c: 1}\nd: *x\n--- # next\na: 2\n", "")).toBe(
      "a: 2\nb:\n  c: 1\nd:\n  c: 1\n",
    );
    expect(await merged("", "")).toBe("{}\n");
    expect(await merged("base: &b {x: 1}\nout:\n  <<: *b\n  y: 2\n", "time: 2026-01-01\n")).toBe(
      'base:\n  x: 1\nout:\n  "true": 2\n  x: 1\ntime: "2026-01-01"\n',
    );
  });

  test.each([
    ["- a\n", "cannot unmarshal array into Go value of type map[string]interface {}"],
    ["a: [\n", "error converting YAML to JSON: yaml: line "],
    [`a: ${"[".repeat(200)}${"]".repeat(200)}\n`, "error converting YAML to JSON: yaml: line "],
  ])("fails for %j without quoting it", async (overlay, why) => {
    await expect(merged("a: 1\n", overlay)).rejects.toThrow(`cannot unmarshal YAML document: `);
    await expect(merged("a: 1\n", overlay)).rejects.toThrow(why);
    await expect(merged("a: 1\n", "a: *hunter2\n")).rejects.toThrow(/^(?!.*hunter2)/);
  });

  test("refuses a file with too many documents", async () => {
    const documents = (count: number) => Array.from({ length: count }, (_, at) => `k: ${at}\n`).join("---\n");
    expect(await merged("", documents(maxDocuments))).toBe(`k: ${maxDocuments - 1}\n`);
    await expect(merged("", documents(maxDocuments + 1))).rejects.toThrow(
      `a file of ${maxDocuments + 1} documents is too long to be merged`,
    );
  });

  test("refuses a file that is too large", async () => {
    const files = { base: "a: 1\n", overlay: "b: 1234567\n" };
    const both = [
      ["@a/base", "v"],
      ["@a/overlay", "v", merge],
    ] as const;
    await expect(copied(both, files, { maxMergedBytes: 10 })).rejects.toThrow("11 bytes is too large to be merged");
    expect(await textsOf(await copied(both, files, { maxMergedBytes: 11 }))).toEqual({ v: "a: 1\nb: 1234567\n" });
  });
});

describe("the operation Extract of an ArtifactGenerator", () => {
  const extract = { strategy: "Extract" } as const;

  test("unpacks tarballs at any depth below the folder, and skips other files", async () => {
    const files = {
      "a.tgz": await artifactOf({ "one/x": "1" }),
      "deep/er/b.TAR.GZ": await artifactOf({ y: "2" }),
      "deep/no.txt": "text",
    };
    const made = await copied([["@a/**", "out", extract]], files);
    expect(await textsOf(made)).toEqual({ "out/one/x": "1", "out/y": "2" });
    expect(await textsOf(await copied([["@a/a.tgz", "", extract]], files))).toEqual({ "one/x": "1" });
  });

  test("11.5/121: refuses a tarball with more content than the limit of 100 MiB", async () => {
    expect(defaultGeneratorLimits.maxExtractedBytes).toBe(100 * 1024 * 1024);
    const files = { "big.tgz": await artifactOf({ x: Buffer.alloc(8_192) }) };
    await expect(copied([["@a/big.tgz", "x", extract]], files, { maxExtractedBytes: 8_192 })).rejects.toThrow(
      `failed to extract tarball "big.tgz" to "x": tar is bigger than max archive size of 8192 bytes`,
    );
    expect(await textsOf(await copied([["@a/big.tgz", "x", extract]], files))).toHaveProperty("x/x");
  });

  test("fails for a symbolic link in a tarball", async () => {
    const bytes = await gzip([tarOf([{ name: "x", type: "2", link: "/etc/passwd" }])]);
    await expect(copied([["@a/l.tgz", "x", extract]], { "l.tgz": bytes })).rejects.toThrow(
      `failed to extract tarball "l.tgz" to "x": tar file entry x contained unsupported file type Lrwxrwxrwx`,
    );
  });
});
