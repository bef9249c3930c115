import { messageOf } from "../../../lib/core/failure.ts";
import { copyFiles } from "../../../lib/sources/generator/copy-files.ts";
import { FileTree } from "../../../lib/sources/generator/file-tree.ts";
import { budgetOf, defaultGeneratorLimits } from "../../../lib/sources/generator/generator-limits.ts";
import { maxGlobChars } from "../../../lib/sources/generator/glob.ts";
import { maxDocuments } from "../../../lib/sources/generator/merge-yaml.ts";
import { artifactRequests, maxCaptures } from "../../../lib/sources/generator/path-pattern.ts";
import type { WorstInput } from "../worst-input.ts";

const budget = () => budgetOf(defaultGeneratorLimits, new AbortController().signal);

function treeOf(files: Readonly<Record<string, string>>): FileTree {
  const tree = new FileTree(defaultGeneratorLimits.archive);
  for (const [path, text] of Object.entries(files)) {
    tree.addFile(path, { type: "file", mode: 0o644, read: async () => Buffer.from(text) });
  }
  return tree;
}

/** Two files of the same text, one merged into the other. */
function merging(name: string, text: string): WorstInput {
  return {
    reader: "lib/sources/generator/merge-yaml.ts",
    name,
    memoryMiB: 300,
    make: async () => {
      const sources = new Map([["a", treeOf({ base: text, overlay: text })]]);
      const to = "@artifact/values.yaml";
      const operations = [
        { from: "@a/base", to },
        { from: "@a/overlay", to, strategy: "Merge" as const },
      ];
      return () => copyFiles(operations, sources, budget()).catch(messageOf);
    },
  };
}

const { maxMergedBytes } = defaultGeneratorLimits;
const filled = (line: (at: number) => string): string => {
  let text = "";
  for (let at = 0; text.length + 20 < maxMergedBytes; at++) text += line(at);
  return text;
};

/** The worst inputs of what makes artifacts of other artifacts. */
export const generatorReaders: readonly WorstInput[] = [
  merging(
    "as many keys as fit",
    filled((at) => `k${at.toString(36)}: \n`),
  ),
  merging("a long flow sequence", `a: [${"1,".repeat(maxMergedBytes / 2 - 10)}]\n`),
  merging(
    "as many documents as are allowed, each with many keys",
    Array.from({ length: maxDocuments }, (_, document) =>
      Array.from({ length: 30 }, (_each, at) => `k${(document * 30 + at).toString(36)}: 1\n`).join(""),
    ).join("---\n"),
  ),
  merging("aliases of a long text", `a: &a ${"x".repeat(60_000)}\n${filled((at) => `b${at}: *a\n`).slice(0, 190_000)}`),
  {
    reader: "lib/sources/generator/glob.ts",
    name: "the longest globs on the longest paths",
    memoryMiB: 300,
    make: async () => {
      const name = "a/".repeat(90) + "a".repeat(3_800);
      const files = Array.from({ length: 20 }, (_, at) => [`${name}${at}`, ""] as const);
      const sources = new Map([["a", treeOf(Object.fromEntries(files))]]);
      const exclude = Array.from({ length: 10 }, () => `${"**/".repeat(100)}${"*a".repeat((maxGlobChars - 310) / 2)}b`);
      return () => copyFiles([{ from: "@a/", to: "@artifact/", exclude }], sources, budget()).catch(messageOf);
    },
  },
  {
    reader: "lib/sources/generator/path-pattern.ts",
    name: "a pattern of many captures on long names",
    memoryMiB: 300,
    make: async () => {
      const folders = Array.from({ length: 1_000 }, (_, at) => [`${"a".repeat(240)}${at}/x`, ""] as const);
      const sources = new Map([["a", treeOf(Object.fromEntries(folders))]]);
      const captures = Array.from({ length: maxCaptures }, (_, at) => `{a${at}}`).join("");
      const artifacts = [{ name: "x", copy: [{ from: "@a/", to: "@artifact/" }] }];
      return () => artifactRequests({ pathPattern: `@a/${captures}b`, artifacts }, sources, budget()).catch(messageOf);
    },
  },
];
