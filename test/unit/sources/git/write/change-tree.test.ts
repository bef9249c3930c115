import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GitFault } from "../../../../../lib/sources/git/git-fault.ts";
import type { GitObject } from "../../../../../lib/sources/git/git-object.ts";
import { maxTreeDepth, maxTreeEntries, maxTreePathBytes } from "../../../../../lib/sources/git/git-tree.ts";
import { changeTree } from "../../../../../lib/sources/git/write/change-tree.ts";
import { maxNewBytes, newObjects } from "../../../../../lib/sources/git/write/new-objects.ts";
import { never } from "../../../../contract/state-back-end.ts";
import { gitPrograms, gitRepository } from "../../../../doubles/git-server.ts";

type TreeEntry = readonly [mode: string, name: Buffer | string];
type Files = Readonly<Record<string, string | undefined>>;

const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

function contents(files: Files): ReadonlyMap<string, Buffer | undefined> {
  return new Map(
    Object.entries(files).map(([path, text]) => [path, text === undefined ? undefined : Buffer.from(text)]),
  );
}

function blobOid(text: string): string {
  const bytes = Buffer.from(text);
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** Objects of a repository whose root tree has these entries, `mode name` each; those of mode 40000 are empty trees. */
function fetchedTree(...entries: readonly TreeEntry[]) {
  const own = newObjects(undefined);
  own.add("tree", new Uint8Array());
  const bytes = Buffer.concat(
    entries.flatMap(([mode, name]) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(mode.endsWith("40000") ? emptyTree : blobOid(""), "hex"),
    ]),
  );
  return { own, root: own.add("tree", bytes) };
}

async function entriesOf(objects: { read(oid: string): Promise<GitObject> }, tree: string): Promise<string> {
  const { bytes } = await objects.read(tree);
  return Buffer.from(bytes).toString("latin1");
}

const change = (files: Files, ...entries: readonly TreeEntry[]) => {
  const { own, root } = fetchedTree(...entries);
  return changeTree(own, root, contents(files), never);
};

function refused(path: string, why: string): GitFault {
  return new GitFault("tree", `the file ${JSON.stringify(path)} cannot be written to the repository: ${why}`);
}

const name = fc
  .constantFrom("a", "a.yaml", "a-", "a0", "b", "é", "z/", "Kustomization")
  .map((text) => text.replace("/", ""));
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const text = fc.constantFrom("", "x\n", "kind: A\n");

/** Files of which none lies below another. */
function possible(files: Files): Files {
  const paths = Object.keys(files);
  return Object.fromEntries(
    Object.entries(files).filter(([one]) => !paths.some((other) => other !== one && one.startsWith(`${other}/`))),
  );
}

describe("changed files of a tree", () => {
  test.skipIf(gitPrograms === undefined)("give the same tree that git writes, for any files and changes", async () => {
    await using repository = await gitRepository();
    const files = fc.dictionary(path, text, { maxKeys: 8 });
    const changes = fc.dictionary(path, fc.option(text, { nil: undefined }), { maxKeys: 8 });
    await fc.assert(
      fc.asyncProperty(files, changes, async (before, change) => {
        const both = possible({ ...before, ...change });
        const first = Object.fromEntries(Object.entries(before).filter(([one]) => one in both));
        const second = Object.fromEntries(Object.entries(change).filter(([one]) => one in both));
        const objects = newObjects(undefined);
        const root = await changeTree(objects, undefined, contents(first), never);
        const tree = await changeTree(objects, root, contents(second), never);
        const lines = Object.entries(both).flatMap(([one, content]) =>
          content === undefined ? [] : [`100644 ${blobOid(content)}\t${one}\n`],
        );
        await repository.git("read-tree", "--empty");
        await repository.feed(lines.join(""), "update-index", "--index-info");
        expect(tree).toBe(await repository.git("write-tree", "--missing-ok"));
      }),
      { numRuns: 20 },
    );
  });

  test("keep the modes of files and the bytes of everything else", async () => {
    const strange = Buffer.from([0xff, 0xfe]);
    const { own, root } = fetchedTree(
      ["100664", "old"],
      ["100755", "run"],
      ["120000", "link"],
      ["160000", "submodule"],
      ["040000", "zeros"],
      ["100644", strange],
    );
    const tree = await changeTree(own, root, contents({ old: "1", run: "2" }), never);
    const entries = await entriesOf(own, tree);
    for (const entry of ["100664 old\0", "100755 run\0", "120000 link\0", "160000 submodule\0", "040000 zeros\0"]) {
      expect(entries).toContain(entry);
    }
    expect(entries).toContain(strange.toString("latin1"));
    expect(entries).toContain(Buffer.from(blobOid("2"), "hex").toString("latin1"));
  });

  test("that are removed also remove their empty folders, up to an empty root", async () => {
    const objects = newObjects(undefined);
    const root = await changeTree(objects, undefined, contents({ "a/b/c": "1" }), never);
    expect(await changeTree(objects, root, contents({ "a/b/c": undefined, "d/e": undefined }), never)).toBe(emptyTree);
  });

  test.each([
    ["../a", 'it has "..", which leads out of its folder'],
    ["a/./b", 'it has ".", which leads out of its folder'],
    ["/a", 'it has "", an empty name'],
    ["a/", 'it has "", an empty name'],
    ["a/.git/config", 'it has ".git", which stands for the folder of git itself'],
    [".GIT/config", 'it has ".GIT", which stands for the folder of git itself'],
    ["git~1", 'it has "git~1", which stands for the folder of git itself'],
    ["a\\b", String.raw`it has "a\\b", a name with a backslash, which separates folders elsewhere`],
    ["a\0b", String.raw`it has "a\u0000b", a name that is not text`],
    ["\ud800", String.raw`it has "\ud800", a name that is not text`],
    ["file/below", "it is a file, not a folder"],
    ["link/below", "it is a symbolic link, not a folder"],
    ["submodule/below", "it is a submodule, not a folder"],
    ["folder", "it is a folder, not a file"],
    ["link", "it is a symbolic link, not a file"],
    ["É", "it differs from 'é' only in case"],
    ["FILE", "it differs from 'file' only in case"],
    ["x/".repeat(maxTreeDepth) + "y", `folders are nested more than ${maxTreeDepth} deep`],
  ])("must not have the path %j", async (path, why) => {
    const at = why.startsWith("it is") ? (path.split("/")[0] ?? "") : path;
    const entries = [
      ["100644", "file"],
      ["40000", "folder"],
      ["120000", "link"],
      ["160000", "submodule"],
      ["100644", "é"],
    ] as const;
    await expect(change({ [path]: "x" }, ...entries)).rejects.toEqual(refused(at, why));
  });

  test("must not have a path that is too long, or one below a file", async () => {
    const long = "x".repeat(maxTreePathBytes + 1);
    await expect(change({ [long]: "x" })).rejects.toEqual(
      refused(`${"x".repeat(100)}…`, `the path has more than ${maxTreePathBytes} bytes`),
    );
    await expect(change({ a: "1", "a/b": "2" })).rejects.toEqual(
      refused("a/b", "it lies below a file that is changed at the same time"),
    );
    await expect(change({ "a/b": "2", a: undefined })).rejects.toEqual(
      refused("a", "a file below it is changed at the same time"),
    );
  });

  test("must not add two names that differ only in case", async () => {
    await expect(change({ "d/a": "1", "d/A": "2" })).rejects.toEqual(
      refused("d/A", "it differs from 'd/a' only in case"),
    );
  });

  test("cannot be removed if they are folders or submodules", async () => {
    await expect(change({ f: undefined }, ["40000", "f"])).rejects.toEqual(refused("f", "it is a folder"));
    await expect(change({ s: undefined }, ["160000", "s"])).rejects.toEqual(refused("s", "it is a submodule"));
  });

  test("in a damaged or endless tree are reported", async () => {
    const broken = newObjects(undefined);
    const root = broken.add("tree", Buffer.from("100644 name without an end"));
    await expect(changeTree(broken, root, contents({ a: "" }), never)).rejects.toMatchObject({ reason: "protocol" });
    const blob = broken.add("blob", Buffer.from("x"));
    await expect(changeTree(broken, blob, contents({ a: "" }), never)).rejects.toThrow(
      `object ${blob} is a blob, not a tree`,
    );
    const entry = (index: number) => Buffer.concat([Buffer.from(`100644 ${index}\0`), Buffer.alloc(20, 1)]);
    const many = Buffer.concat(Array.from({ length: maxTreeEntries + 1 }, (_, index) => entry(index)));
    await expect(changeTree(broken, broken.add("tree", many), contents({ a: "" }), never)).rejects.toThrow(
      `the folders to be changed have more than ${maxTreeEntries} files and folders`,
    );
  });

  test("have a limit in total", async () => {
    const objects = newObjects(undefined);
    await changeTree(objects, undefined, new Map([["a", Buffer.alloc(maxNewBytes / 2, 1)]]), never);
    await expect(
      changeTree(objects, undefined, new Map([["a", Buffer.alloc(maxNewBytes / 2, 2)]]), never),
    ).rejects.toEqual(
      new GitFault("too-large", `the new files, folders and commits have more than ${maxNewBytes} bytes together`),
    );
  });
});
