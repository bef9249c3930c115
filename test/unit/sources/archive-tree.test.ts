import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import {
  archiveTree,
  maxIgnoreBytes,
  maxIgnoreLines,
  maxPatternLength,
  maxPatterns,
} from "../../../lib/sources/archive/archive-tree.ts";
import { packTar, type TreeEntry } from "../../../lib/sources/archive/pack-tar.ts";
import { defaultArchiveLimits, unpack } from "../../../lib/sources/archive/unpack.ts";
import { inWalkOrder } from "../../../lib/sources/archive/walk-order.ts";
import { contentOf, fileOf } from "./tree-file.ts";
import { unpackTar } from "./unpack-tar.ts";

const execute = promisify(execFile);
const forever = new AbortController().signal;

describe("the archive of a tree", () => {
  const tree = [fileOf("b/c.yaml", "c"), fileOf("a.yaml", "a"), fileOf("run.sh", "", 0o755)];

  test("11.1/17: depends only on names, bytes and execute bits", async () => {
    const digest = async (entries: readonly TreeEntry[]) => digestOf(await archiveTree(entries, undefined, forever));
    const wanted = await digest(tree);
    expect(await digest(tree.toReversed())).toBe(wanted);
    expect(await digest(tree.map((entry) => ({ ...entry, mode: entry.mode & 0o511 })))).toBe(wanted);
    expect(await digest(tree.map((entry) => ({ ...entry, mode: 0o644 })))).not.toBe(wanted);
    expect(await digest([...tree, fileOf("d.yaml")])).not.toBe(wanted);
  });

  test("has Flux's modes, no owner, no times, and the root as its first entry", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-archive-"));
    const packed = await archiveTree([...tree, { type: "directory", path: "b", mode: 0o777 }], undefined, forever);
    await writeFile(join(folder, "a.tgz"), packed);
    const listed = await execute("tar", ["tvzf", join(folder, "a.tgz"), "--full-time", "--utc"]);
    await rm(folder, { recursive: true });
    expect(listed.stdout.trimEnd().split("\n")).toEqual([
      "drwxr-x--- 0/0               0 1970-01-01 00:00:00 .",
      "-rw------- 0/0               1 1970-01-01 00:00:00 a.yaml",
      "drwxr-x--- 0/0               0 1970-01-01 00:00:00 b",
      "-rw------- 0/0               1 1970-01-01 00:00:00 b/c.yaml",
      "-rwx------ 0/0               0 1970-01-01 00:00:00 run.sh",
    ]);
    expect(packed.subarray(0, 10)).toEqual(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]));
  });

  test("contains the ignore files, and nested ones apply after the root's", async () => {
    const entries = [
      fileOf(".sourceignore", "*.txt\n"),
      fileOf("a.txt"),
      fileOf("sub/.sourceignore", "!*.txt\n"),
      fileOf("sub/b.txt"),
    ];
    // In whatever order they were found.
    for (const found of [entries, entries.toReversed()]) {
      const { entries: kept } = await unpack(
        await archiveTree(found, undefined, forever),
        defaultArchiveLimits,
        forever,
      );
      expect(kept.map(({ path }) => path)).toEqual([".sourceignore", "sub", "sub/.sourceignore", "sub/b.txt"]);
    }
  });

  test("can be unpacked unchanged, for any names and contents", async () => {
    const name = fc
      .string({ unit: fc.constantFrom("a", "B", "é", "日", "-", ".", " ", "x".repeat(60)), minLength: 1, maxLength: 4 })
      .filter((text) => text !== "." && !text.endsWith(".."));
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    const content = fc.uint8Array({ maxLength: 2_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(path, content), { maxLength: 8, selector: ([one]) => one }),
        async (all) => {
          const isFolder = (one: string): boolean => all.some(([other]) => other.startsWith(`${one}/`));
          const files = all.flatMap(([one, bytes]): TreeEntry[] =>
            isFolder(one) ? [] : [{ type: "file", path: one, mode: 0o600, bytes }],
          );
          const { entries } = await unpackTar(Buffer.concat([...packTar(files, 0o750)]));
          const back = entries.filter(({ type }) => type === "file").map((one) => ({ ...one, ...contentOf(one) }));
          expect(back).toEqual(inWalkOrder(files).map((one) => ({ ...one, ...contentOf(one) })));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("can be read by GNU tar, with long names", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-archive-"));
    const long = `${"d".repeat(90)}/${"e".repeat(90)}/${"f".repeat(120)}.yaml`;
    await writeFile(
      join(folder, "a.tar"),
      Buffer.concat([...packTar([fileOf(long, "long"), fileOf("ünï.yaml", "u")], 0o755)]),
    );
    await execute("tar", ["xf", "a.tar"], { cwd: folder });
    const found = (await readdir(folder, { recursive: true })).toSorted();
    await rm(folder, { recursive: true });
    expect(found).toContain(long);
    expect(found).toContain("ünï.yaml");
  });

  describe("is refused if the ignore rules exceed a limit", () => {
    const rules = (text: string) => archiveTree([fileOf("a")], text, forever);
    const own = 4;

    test.each([
      { what: "patterns", max: maxPatterns, text: (count: number) => "a\n".repeat(count - own) },
      { what: "characters of a pattern", max: maxPatternLength, text: (count: number) => "a".repeat(count) },
      { what: "bytes", max: maxIgnoreBytes, text: (count: number) => "#".repeat(count) },
    ])("on their $what", async ({ max, text }) => {
      await rules(text(max - 1));
      await rules(text(max));
      await expect(rules(text(max + 1))).rejects.toThrow(`more than ${max}`);
    });

    test("on lines, including comments and empty ones, in all files together", async () => {
      const lines = (count: number) =>
        archiveTree([fileOf(".sourceignore", "#\n".repeat(count / 2))], "\n".repeat(count / 2), forever);
      await lines(maxIgnoreLines);
      await expect(lines(maxIgnoreLines + 2)).rejects.toThrow(`more than ${maxIgnoreLines} lines`);
    });

    test("on the bytes of all files together, before any file is parsed", async () => {
      const files = (bytes: number) =>
        archiveTree(
          [fileOf(".sourceignore", "#".repeat(bytes)), fileOf("b/.sourceignore", "#".repeat(bytes))],
          undefined,
          forever,
        );
      await files(maxIgnoreBytes / 2);
      await expect(files(maxIgnoreBytes / 2 + 1)).rejects.toThrow(`files have more than ${maxIgnoreBytes} bytes`);
    });
  });
});
