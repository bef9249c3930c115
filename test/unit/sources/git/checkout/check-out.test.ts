import { expect, test } from "vitest";
import { checkOut } from "../../../../../lib/sources/git/checkout/check-out.ts";
import { addFolders, type WorkTree } from "../../../../../lib/sources/git/checkout/work-tree.ts";
import type { GitObject } from "../../../../../lib/sources/git/git-object.ts";
import { untilDeadline } from "../../../../deadline.ts";
import { oidOf } from "../pack-of.ts";

/** A tree of `count` files in folders inside each other. */
function deep(folders: number, count: number) {
  const objects = new Map<string, GitObject>();
  const add = (text: Buffer): string => {
    const oid = oidOf("tree", text);
    objects.set(oid, { type: "tree", bytes: text });
    return oid;
  };
  const none = Buffer.alloc(20, 1);
  let oid = add(Buffer.concat(Array.from({ length: count }, (_, at) => [Buffer.from(`100644 f${at}\0`), none]).flat()));
  for (let at = 0; at < folders; at++) oid = add(Buffer.concat([Buffer.from("40000 d\0"), Buffer.from(oid, "hex")]));
  return { oid, read: async (wanted: string) => objects.get(wanted) ?? { type: "blob" as const, bytes: Buffer.of() } };
}

test("a checkout of many files in deep folders lets other work run", async () => {
  const { oid, read } = deep(95, 50_000);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  try {
    const { tree } = await checkOut({ read }, oid, { signal: untilDeadline() });
    expect(tree.size).toBe(50_095);
  } finally {
    clearInterval(timer);
  }
  expect(ticks).toBeGreaterThan(0);
});

test("a checkout of a part of a tree lists parent folders before their content", async () => {
  const { oid, read } = deep(3, 1);
  const { tree } = await checkOut({ read }, oid, { folders: ["d/d/d"], signal: untilDeadline() });
  expect([...tree.keys()]).toEqual(["d", "d/d", "d/d/d", "d/d/d/f0"]);
});

test("looking for a folder goes upwards to the first one that exists", () => {
  const tree: WorkTree = new Map();
  expect(addFolders(tree, "a/b/c/d")).toBeUndefined();
  expect([...tree.keys()]).toEqual(["a", "a/b", "a/b/c"]);
  const asked: string[] = [];
  const get = tree.get.bind(tree);
  tree.get = (path) => {
    asked.push(path);
    return get(path);
  };
  expect(addFolders(tree, "a/b/c/e")).toBeUndefined();
  expect(asked).toEqual(["a/b/c"]);
  tree.set("a/file", { type: "file", path: "a/file", mode: 0o644, read: async () => Buffer.of() });
  expect(addFolders(tree, "a/file/x/y")).toBe("a/file");
  expect(tree.has("a/file/x")).toBe(false);
});
