import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { GitObject } from "../../../../lib/sources/git/git-object.ts";
import {
  maxTreeDepth,
  maxTreeEntries,
  maxTreePathBytes,
  maxTreePathsBytes,
  walkTree,
} from "../../../../lib/sources/git/git-tree.ts";

type Entry = readonly [mode: string, name: string | Uint8Array, oid: string];

const blob = "a".repeat(40);

const bytesOf = (name: string | Uint8Array) =>
  Buffer.from(typeof name === "string" ? new TextEncoder().encode(name) : name);

/** A few trees in memory. */
function trees() {
  const objects = new Map<string, GitObject>();
  return {
    read: (oid: string) => Promise.resolve(objects.get(oid) ?? { type: "blob" as const, bytes: Buffer.from("") }),
    add(entries: readonly Entry[]): string {
      const bytes = Buffer.concat(
        entries.flatMap(([mode, name, oid]) => [
          Buffer.from(`${mode} `),
          bytesOf(name),
          Buffer.from([0]),
          Buffer.from(oid, "hex"),
        ]),
      );
      const oid = createHash("sha1").update(`tree ${bytes.length}\0`).update(bytes).digest("hex");
      objects.set(oid, { type: "tree", bytes });
      return oid;
    },
    addRaw(bytes: Uint8Array): string {
      objects.set(blob, { type: "tree", bytes });
      return blob;
    },
  };
}

async function walked(objects: ReturnType<typeof trees>, tree: string, folders?: readonly string[]) {
  const found: string[] = [];
  const options = folders === undefined ? {} : { folders };
  for await (const { type, path } of walkTree(objects, tree, options)) found.push(`${type} ${path}`);
  return found;
}

function reject(reason: string, message: string): unknown {
  return expect.objectContaining({ name: "GitFault", reason, message: expect.stringContaining(message) });
}

describe("walking a git tree", () => {
  test("returns each entry with its type, and a directory before its content", async () => {
    const objects = trees();
    const inner = objects.add([["100755", "run.sh", blob]]);
    const root = objects.add([
      ["100644", "a.yaml", blob],
      ["100664", "b.yaml", blob],
      ["040000", "dir", inner],
      ["40000", "dir2", inner],
      ["120000", "link", blob],
      ["160000", "module", blob],
    ]);
    expect((await walked(objects, root)).toSorted()).toEqual([
      "directory dir",
      "directory dir2",
      "executable dir/run.sh",
      "executable dir2/run.sh",
      "file a.yaml",
      "file b.yaml",
      "submodule module",
      "symlink link",
    ]);
    const order = await walked(objects, root);
    expect(order.indexOf("directory dir")).toBeLessThan(order.indexOf("executable dir/run.sh"));
  });

  test("below some folders reads nothing else", async () => {
    const objects = trees();
    const leaf = objects.add([["100644", "f", blob]]);
    const middle = objects.add([
      ["100644", "beside", blob],
      ["40000", "other", leaf],
      ["40000", "wanted", leaf],
    ]);
    const root = objects.add([
      ["100644", "file", blob],
      ["40000", "m", middle],
      ["40000", "ma", leaf],
      ["100644", "top", blob],
    ]);
    expect(await walked(objects, root, ["m/wanted", "top"])).toEqual([
      "file top",
      "directory m",
      "directory m/wanted",
      "file m/wanted/f",
    ]);
    expect(await walked(objects, root, ["ma"])).toEqual(["directory ma", "file ma/f"]);
  });

  test.each<[name: string | Uint8Array, why: string]>([
    [".git", "folder of git itself"],
    [".GIT", "folder of git itself"],
    [".git ", "folder of git itself"],
    [".git...", "folder of git itself"],
    [".git::$INDEX_ALLOCATION", "folder of git itself"],
    ["git~1", "folder of git itself"],
    [".g\u200cit", "folder of git itself"],
    [".", "leads out"],
    ["..", "leads out"],
    ["a\\b", "backslash"],
    ["a/b", "slash"],
    ["", "empty name"],
    [Buffer.from([0x61, 0xff]), "not UTF-8"],
  ])("refuses the name %j and reports its path", async (name, why) => {
    const objects = trees();
    const inner = objects.add([["100644", name, blob]]);
    const fault = await walked(objects, objects.add([["40000", "sub", inner]])).catch((error: unknown) => error);
    expect(fault).toEqual(reject("tree", why));
    expect(fault).toEqual(reject("tree", JSON.stringify(`sub/${bytesOf(name).toString()}`)));
    await expect(walked(objects, inner)).rejects.toEqual(reject("tree", why));
  });

  test.each([".gitignore", ".github", "git", "..a", "a..b", "...", "a:b", " "])("accepts the name %j", async (name) => {
    const objects = trees();
    expect(await walked(objects, objects.add([["100644", name, blob]]))).toEqual([`file ${name}`]);
  });

  test.each([
    ["README", "readme", "only in case"],
    ["\u00c4", "a\u0308", "only in case"],
    ["twice", "twice", "is in it twice"],
  ])("refuses %j next to %j", async (one, other, why) => {
    const objects = trees();
    const root = objects.add([
      ["100644", one, blob],
      ["40000", other, blob],
    ]);
    await expect(walked(objects, root)).rejects.toEqual(reject("tree", why));
  });

  test("refuses an object that is not a tree", async () => {
    const objects = trees();
    await expect(walked(objects, blob)).rejects.toEqual(reject("protocol", "is a blob, not a tree"));
    for (const raw of [
      "100644 name",
      "100644 name\0short",
      "999 a\0aaaaaaaaaaaaaaaaaaaa",
      "noblank\0aaaaaaaaaaaaaaaaaaaa",
    ]) {
      const bad = trees();
      await expect(walked(bad, bad.addRaw(Buffer.from(raw)))).rejects.toEqual(reject("protocol", "damaged"));
    }
  });

  test("stops at its limits", async () => {
    const nested = (depth: number) => {
      const objects = trees();
      let tree = objects.add([["100644", "f", blob]]);
      for (let at = 0; at < depth; at++) tree = objects.add([["40000", "d", tree]]);
      return walked(objects, tree);
    };
    expect(await nested(maxTreeDepth)).toHaveLength(maxTreeDepth + 1);
    await expect(nested(maxTreeDepth + 1)).rejects.toEqual(reject("too-large", `more than ${maxTreeDepth} deep`));

    const named = (bytes: number) => {
      const objects = trees();
      const tree = objects.add([["100644", "n".repeat(bytes - 2), blob]]);
      return walked(objects, objects.add([["40000", "d", tree]]));
    };
    expect(await named(maxTreePathBytes)).toHaveLength(2);
    await expect(named(maxTreePathBytes + 1)).rejects.toEqual(reject("too-large", `${maxTreePathBytes} bytes`));
  });

  test("stops inside a single tree object with too many entries, and lets other work run", async () => {
    const objects = trees();
    const entry = (index: number) => `100644 ${index.toString(36).padStart(6, "0")}\0${"a".repeat(20)}`;
    const tree = objects.addRaw(Buffer.from(Array.from({ length: 300_000 }, (_, index) => entry(index)).join("")));
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    try {
      await expect(walked(objects, tree)).rejects.toEqual(
        reject("too-large", `more than ${maxTreeEntries} files and folders`),
      );
    } finally {
      clearInterval(timer);
    }
    expect(ticks).toBeGreaterThan(0);
  });

  test("stops when it is aborted", async () => {
    const objects = trees();
    const entry = (index: number) => `100644 ${index.toString(36).padStart(6, "0")}\0${"a".repeat(20)}`;
    const tree = objects.addRaw(Buffer.from(Array.from({ length: 99_000 }, (_, index) => entry(index)).join("")));
    const ended = new AbortController();
    setImmediate(() => ended.abort(new Error("over")));
    const found = async (): Promise<number> => {
      let count = 0;
      for await (const _ of walkTree(objects, tree, { signal: ended.signal })) count++;
      return count;
    };
    await expect(found()).rejects.toThrow("over");
  });

  test("stops if all paths together are too long", async () => {
    const objects = trees();
    let tree = objects.add(Array.from({ length: 20_000 }, (_, index) => ["100644", `n${index}`, blob] as const));
    for (let at = 0; at < 20; at++) tree = objects.add([["40000", "d".repeat(100), tree]]);
    await expect(walked(objects, tree)).rejects.toEqual(
      reject("too-large", `more than ${maxTreePathsBytes} bytes together`),
    );
  });

  test("stops in a tree that contains the same tree many times", async () => {
    const objects = trees();
    const flat = (count: number, oid: string, mode: string) =>
      objects.add(Array.from({ length: count }, (_, index) => [mode, `n${index}`, oid] as const));
    const leaf = flat(999, blob, "100644");
    expect(await walked(objects, flat(100, leaf, "40000"))).toHaveLength(maxTreeEntries);
    await expect(walked(objects, flat(101, leaf, "40000"))).rejects.toEqual(
      reject("too-large", `more than ${maxTreeEntries} files and folders`),
    );
  });
});
