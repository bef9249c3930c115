import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  followLinks,
  type LinkedEntry,
  type LinkedTree,
  maxNestedLinks,
} from "../../../lib/sources/archive/follow-links.ts";
import { defaultArchiveLimits, unpack, withLinksFollowed } from "../../../lib/sources/archive/unpack.ts";
import { tarOf } from "./tar-of.ts";

const forever = new AbortController().signal;
const file = (path: string, bytes: number) =>
  ({ type: "file", path, mode: 0o644, bytes: new Uint8Array(bytes) }) as const;
const link = (path: string, target: string) => ({ type: "link", path, target }) as const;

test("the files of an archive and their copies may have exactly as many bytes as the limit, and no more", async () => {
  const archive = { entries: [file("a", 40), file("b", 7)], links: [link("c", "a"), link("d", "c")] };
  const follow = (maxBytes: number) =>
    withLinksFollowed(archive, { limits: { ...defaultArchiveLimits, maxBytes }, mend: "copy it" }, forever);
  expect(await follow(3 * 40 + 7)).toHaveLength(4);
  await expect(follow(3 * 40 + 6)).rejects.toThrow(
    `with the targets of its links, the archive is bigger than ${3 * 40 + 6} bytes`,
  );
});

test("the paths of an archive and its copies may have 32 MiB in total", async () => {
  const long = "x".repeat(3_000);
  const files = Array.from({ length: 2_000 }, (_, at) => file(`d/${long}${at}`, 0));
  const entries = [{ type: "directory", path: "d", mode: 0o755 } as const, ...files];
  const follow = (count: number) => {
    const links = Array.from({ length: count }, (_, at) => link(`l${at}`, "d"));
    return withLinksFollowed({ entries, links }, { limits: defaultArchiveLimits, mend: "copy it" }, forever);
  };
  expect(await follow(4)).toHaveLength(5 * 2_001);
  await expect(follow(5)).rejects.toThrow(`more than ${32 * 1024 * 1024} bytes together`);
});

const plain = (path: string): LinkedEntry => ({ type: "file", path, mode: 0o644, read: async () => new Uint8Array() });
const folder = (path: string): LinkedEntry => ({ type: "directory", path });
function follow(all: readonly LinkedEntry[], limits: Partial<LinkedTree> = {}) {
  const entries = new Map(all.map((entry) => [entry.path, entry]));
  const most = { maxEntries: 10_000, maxPathBytes: 4_096, maxPathsBytes: 1_000_000 };
  const words = { root: "archive", whole: "archive", mend: "copy it", fault: (text: string) => new RangeError(text) };
  return followLinks({ entries, ...most, ...words, ...limits }, forever);
}

// Comes to a, a/é, b and b/é: four entries, the longest path of four bytes, ten bytes together.
const small = [folder("a"), plain("a/é"), link("b", "a")];
test.each([
  { limits: { maxEntries: 4 }, isTaken: true },
  { limits: { maxEntries: 3 }, isTaken: false },
  { limits: { maxPathBytes: 4 }, isTaken: true },
  { limits: { maxPathBytes: 3 }, isTaken: false },
  { limits: { maxPathsBytes: 10 }, isTaken: true },
  { limits: { maxPathsBytes: 9 }, isTaken: false },
])("copies within $limits are accepted: $isTaken", async ({ limits, isTaken }) => {
  const count = await follow(small, limits).then(
    (followed) => followed.length,
    (error: unknown) => (error instanceof RangeError ? "too much" : error),
  );
  expect(count).toBe(isTaken ? 4 : "too much");
});

test("copies may be nested exactly as deep as the limit, and no deeper", async () => {
  const chain = (count: number) =>
    Array.from({ length: count + 1 }, (_, at) => [
      folder(`f${at}`),
      at === count ? plain(`f${at}/x`) : link(`f${at}/l`, `../f${at + 1}`),
    ]).flat();
  expect((await follow(chain(maxNestedLinks))).map(({ path }) => path)).toContain(`f0${"/l".repeat(maxNestedLinks)}/x`);
  await expect(follow(chain(maxNestedLinks + 1))).rejects.toThrow(`more than ${maxNestedLinks} links in a row`);
});

test("a link is followed through 40 links to a file, and 41 links count as a cycle", async () => {
  const chain = (count: number) => [
    ...Array.from({ length: count }, (_, at) => link(`l${at}`, at === count - 1 ? "x" : `l${at + 1}`)),
    plain("x"),
  ];
  const read = async (count: number) => {
    const first = (await follow(chain(count))).find(({ path }) => path === "l0");
    return first?.type === "file" ? first.read() : undefined;
  };
  expect(await read(40)).toHaveLength(0);
  await expect(read(41)).rejects.toThrow("which leads round in a circle");
});

test("folders that link to each other are copied once on each path", async () => {
  const followed = await follow([folder("a"), link("a/l", "../b"), folder("b"), link("b/l", "../a")]);
  const ends = followed.filter(({ type }) => type === "file").map(({ path }) => path);
  expect(ends).toEqual(["a/l/l/l", "b/l/l/l"]);
});

const taken = async (members: Parameters<typeof tarOf>[0], limits: object) =>
  unpack(gzipSync(tarOf(members)), { ...defaultArchiveLimits, ...limits }, forever).then(
    () => true,
    (error: unknown) => {
      if (error instanceof RangeError) return false;
      throw error;
    },
  );
test.each([
  // Header, content and the two blocks of the end.
  { what: "bytes", members: [{ name: "a", content: "x" }], limit: "maxBytes", most: 4 * 512 },
  { what: "nested folders", members: [{ name: "a/b/c" }], limit: "maxDepth", most: 3 },
  { what: "bytes in a path", members: [{ name: "a/é" }], limit: "maxPathBytes", most: 4 },
  { what: "bytes in a link", members: [{ name: "l", type: "2", link: "a/é" }], limit: "maxPathBytes", most: 4 },
  { what: "bytes in a hard link", members: [{ name: "l", type: "1", link: "a/é" }], limit: "maxPathBytes", most: 4 },
  { what: "members", members: [{ name: "a" }, { name: "b" }], limit: "maxEntries", most: 2 },
])("an archive may have exactly as many $what as $limit, and no more", async ({ members, limit, most }) => {
  expect(await taken(members, { [limit]: most })).toBe(true);
  expect(await taken(members, { [limit]: most - 1 })).toBe(false);
});
