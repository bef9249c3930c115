import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { GitFault } from "../../../../lib/sources/git/git-fault.ts";
import { defaultGitLimits, type GitObjects } from "../../../../lib/sources/git/git-remote.ts";
import { oidTable } from "../../../../lib/sources/git/oid-table.ts";
import { maxAtOnceBytes } from "../../../../lib/sources/git/pack-entry.ts";
import { receivePack } from "../../../../lib/sources/git/pack-file.ts";
import { openPack } from "../../../../lib/sources/git/pack-objects.ts";
import { maxSpareBytes, unshared } from "../../../../lib/sources/git/pack-unpacker.ts";
import { never } from "../../../contract/state-back-end.ts";
import { deltaOf, entryHead, inPieces, oidOf, type PackEntry, packOf } from "./pack-of.ts";

const small = {
  ...defaultGitLimits,
  maxPackBytes: 10_000,
  maxObjects: 5,
  maxObjectBytes: 1_000,
  maxUnpackedBytes: 5_000,
};

async function open(pack: Uint8Array, limits = defaultGitLimits, pieceBytes?: number): Promise<GitObjects> {
  return openPack(await receivePack(inPieces(pack, pieceBytes), limits), limits, never);
}

const bytesOf = (text: string) => Buffer.from(text);
const blob = (text: string): PackEntry => ({ type: "blob", bytes: bytesOf(text) });

async function texts(objects: GitObjects, ...wanted: readonly string[]): Promise<string[]> {
  const found = await Promise.all(wanted.map((text) => objects.read(oidOf("blob", bytesOf(text)))));
  return found.map(({ bytes }) => Buffer.from(bytes).toString());
}

/** The temporary folder of this file's tests, in which nothing else is. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-test-pack-"));
  vi.stubEnv("TMPDIR", folder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** As if each step of the work took longer than a slice of time. */
async function withoutSlices<Result>(work: () => Promise<Result>): Promise<Result> {
  let now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1_000));
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
}

function reject(reason: string, why: string): unknown {
  return expect.objectContaining({ name: "GitFault", reason, message: expect.stringContaining(why) });
}

test("a packfile with an object that inflates to many times its size is refused", async () => {
  // Blocks without content, as many as one likes.
  const empty = Buffer.from([0, 0, 0, 0xff, 0xff]);
  const padded = (blocks: number): Buffer => {
    const stream = Buffer.concat([
      Buffer.from([0x78, 0x01]),
      ...Array.from({ length: blocks }, () => empty),
      deflateSync("x").subarray(2),
    ]);
    const rest = Buffer.concat([entryHead(3, 1), stream]);
    return packOf([], { damage: (head) => Buffer.concat([head, rest]), claimed: 1 });
  };
  await using objects = await open(padded(maxSpareBytes / 10));
  expect(await texts(objects, "x")).toEqual(["x"]);
  await expect(open(padded(maxSpareBytes / 5 + 1_000))).rejects.toEqual(reject("protocol", "many times its bytes"));
});

test("a packfile that does not fit on the disk is reported as too large", async () => {
  const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    yield packOf([blob("x")]).subarray(0, 20);
    throw full;
  }
  await expect(receivePack(pieces(), defaultGitLimits)).rejects.toEqual(reject("too-large", "no room on the disk"));
});

describe("a packfile", () => {
  test("gives its objects by id, with their types, in whatever chunks it arrives", async () => {
    const entries: PackEntry[] = [
      { type: "commit", bytes: bytesOf("c") },
      { type: "tree", bytes: bytesOf("t") },
      { type: "tag", bytes: bytesOf("g") },
      { type: "blob", bytes: Buffer.alloc(100_000, "a long one ") },
      { type: "blob", bytes: bytesOf("") },
    ];
    for (const pieceBytes of [1, 11, 12, 13, 65_536]) {
      await using objects = await open(packOf(entries), defaultGitLimits, pieceBytes);
      for (const entry of entries) {
        if (!("bytes" in entry)) continue;
        const oid = oidOf(entry.type, entry.bytes);
        expect(objects.has(oid)).toBe(true);
        const { type, bytes } = await objects.read(oid);
        expect([type, Buffer.from(bytes)]).toEqual([entry.type, entry.bytes]);
      }
    }
  });

  test("may be empty", async () => {
    await using objects = await open(packOf([]));
    expect(objects.has("0".repeat(40))).toBe(false);
    await expect(objects.read("0".repeat(40))).rejects.toEqual(reject("missing", "0".repeat(40)));
    expect(objects.has("no id")).toBe(false);
  });

  test("resolves deltas against earlier entries, later ids and other deltas", async () => {
    const append = (from: string, more: string): Buffer =>
      deltaOf(from.length, from.length + more.length, [{ from: 0, length: from.length }, { insert: bytesOf(more) }]);
    await using objects = await open(
      packOf([
        { baseOid: oidOf("blob", bytesOf("abc")), delta: append("abc", "d") },
        { baseOid: oidOf("blob", bytesOf("a")), delta: append("a", "b") },
        blob("a"),
        { base: 1, delta: append("ab", "c") },
        { base: 2, delta: append("a", "x") },
        { baseOid: oidOf("blob", bytesOf("a")), delta: append("a", "y") },
        // The same object twice, which git writes now and then.
        blob("a"),
      ]),
    );
    const wanted = ["a", "ab", "abc", "abcd", "ax", "ay"];
    expect(await texts(objects, ...wanted)).toEqual(wanted);
    expect((await objects.read(oidOf("blob", bytesOf("abcd")))).type).toBe("blob");
  });

  test("resolves long chains of deltas, up to the limit", async () => {
    const chain = (length: number): PackEntry[] => [
      blob("0"),
      ...Array.from({ length }, (_, base) => ({
        base,
        delta: deltaOf(base + 1, base + 2, [{ from: 0, length: base + 1 }, { insert: bytesOf("x") }]),
      })),
    ];
    const limits = { ...defaultGitLimits, maxDeltaDepth: 50 };
    await using objects = await open(packOf(chain(50)), limits);
    expect(await texts(objects, `0${"x".repeat(50)}`)).toEqual([`0${"x".repeat(50)}`]);
    await expect(open(packOf(chain(51)), limits)).rejects.toEqual(reject("too-large", "chains of more than 50 deltas"));
  });

  test("resolves deltas for objects that are too large to be cached", async () => {
    const most = 0xff_ff_ff;
    const rest = 1_000;
    const zeros = Buffer.alloc(3 * most + rest);
    const whole = [0, 1, 2].map((index) => ({ from: index * most, length: most }));
    const append = (base: number): PackEntry => {
      const steps = [...whole, { from: 3 * most, length: rest + base }, { insert: bytesOf(String(base)) }];
      return { base, delta: deltaOf(zeros.length + base, zeros.length + base + 1, steps) };
    };
    await using objects = await open(packOf([{ type: "blob", bytes: zeros }, append(0), append(1), append(2)]));
    const { bytes } = await objects.read(oidOf("blob", Buffer.concat([zeros, bytesOf("012")])));
    expect(Buffer.from(bytes.subarray(-4)).toString()).toBe("\u0000012");
  });

  test.each<[title: string, pack: Uint8Array, reason: string, why: string]>([
    ["of nothing", Buffer.alloc(0), "protocol", "broke off"],
    ["that is a page", bytesOf("<html>no pack</html>"), "protocol", "does not begin as a pack"],
    ["of version 9", packOf([], { damage: (all) => (all.writeUInt32BE(9, 4), all) }), "protocol", "does not begin"],
    ["that is cut off", packOf([blob("abc")]).subarray(0, -5), "protocol", "checksum"],
    [
      "with a wrong trailer",
      Buffer.concat([packOf([blob("abc")]).subarray(0, -1), bytesOf("!")]),
      "protocol",
      "checksum",
    ],
    ["of fewer objects than it claims", packOf([blob("abc")], { claimed: 2 }), "protocol", "damaged"],
    ["of more bytes than its objects", packOf([blob("a"), blob("b")], { claimed: 1 }), "protocol", "more bytes"],
    ["of too few bytes for its objects", packOf([blob("abc")], { claimed: 5 }), "protocol", "too short for 5"],
    ["of more objects than allowed", packOf([], { claimed: 6 }), "too-large", "6 objects, more than 5"],
    [
      "with an object that has another length",
      packOf([blob("abc")], { damage: (all) => (all.writeUInt8(all.readUInt8(12) - 1, 12), all) }),
      "protocol",
      "zlib",
    ],
    [
      "with an object that is not compressed",
      packOf([blob("abc")], { damage: (all) => all.fill(7, 13) }),
      "protocol",
      "zlib",
    ],
    [
      "with an unknown type",
      packOf([blob("abc")], { damage: (all) => (entryHead(5, 3).copy(all, 12), all) }),
      "protocol",
      "unknown type 5",
    ],
    [
      "with a delta for a missing entry",
      packOf([blob("a"), { base: 9, delta: deltaOf(1, 1, []) }]),
      "protocol",
      "not an entry",
    ],
    [
      "with a missing base",
      packOf([{ baseOid: oidOf("blob", bytesOf("far")), delta: deltaOf(3, 3, []) }]),
      "protocol",
      "1 deltas are for objects that it does not have",
    ],
    [
      "with deltas that refer to each other",
      packOf([
        { baseOid: "1".repeat(40), delta: deltaOf(1, 1, [{ from: 0, length: 1 }]) },
        { baseOid: "2".repeat(40), delta: deltaOf(1, 1, [{ from: 0, length: 1 }]) },
      ]),
      "protocol",
      "2 deltas are for objects",
    ],
    ["with a large object", packOf([blob("x".repeat(1_001))]), "too-large", "an object of more than 1000 bytes"],
    [
      "with a delta that makes a large object",
      packOf([blob("x".repeat(1_000)), { base: 0, delta: deltaOf(1_000, 1_001, []) }]),
      "too-large",
      "an object of more than 1000 bytes",
    ],
    [
      "that unpacks to too many bytes",
      packOf([blob("x".repeat(1_000)), ...Array.from({ length: 4 }, () => ({ base: 0, delta: bomb(1_000) }))]),
      "too-large",
      "unpacks to more than 5000 bytes",
    ],
  ])("%s is refused, and leaves no files", async (_, pack, reason, why) => {
    await expect(open(pack, small)).rejects.toEqual(reject(reason, why));
    expect(await readdir(folder)).toEqual([]);
  });

  test("above the byte limit is not read to its end", async () => {
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
      yield packOf([]).subarray(0, 12);
      for (; ; sent += 1_000) yield Buffer.alloc(1_000);
    }
    await expect(receivePack(endless(), small)).rejects.toEqual(reject("too-large", "more than 10000 bytes"));
    expect(sent).toBeLessThan(11_000);
  });

  test("that is read repeatedly counts all unpacked bytes towards the limit", async () => {
    await using objects = await open(packOf([blob("x".repeat(1_000))]), small);
    const read = (): Promise<unknown> => objects.read(oidOf("blob", Buffer.alloc(1_000, "x")));
    for (let times = 0; times < 4; times++) await read();
    await expect(read()).rejects.toEqual(reject("too-large", "unpacks to more than 5000 bytes"));
  });

  test("that is read repeatedly counts even the smallest object", async () => {
    await using objects = await open(packOf([blob("x")]), small);
    for (let times = 0; times < 8; times++) await texts(objects, "x");
    await expect(texts(objects, "x")).rejects.toEqual(reject("too-large", "unpacks to more than 5000 bytes"));
  });

  test("does not keep a larger buffer in memory for a small object", () => {
    const [small, large] = [bytesOf("x"), Buffer.alloc(10_000)];
    expect(unshared(small)).toEqual(small);
    expect(unshared(small).buffer.byteLength).toBe(1);
    expect(unshared(large)).toBe(large);
  });

  test("whose deltas name bases with a common prefix is refused as fast as any other", async () => {
    const oids = Array.from(
      { length: 2_000 },
      (_, index) => "deadbeef".padEnd(32, "0") + index.toString(16).padStart(8, "0"),
    );
    const ids = Buffer.from(oids.join(""), "hex");
    const compare = vi.spyOn(Buffer.prototype, "compare");
    try {
      const table = oidTable(ids, oids.length);
      for (const position of oids.keys()) expect(table.add(position)).toBe(-1);
      // Each id meets a few others on its way to a free slot. In a row of all of them it would meet a thousand.
      expect(compare.mock.calls.length).toBeLessThan(20 * oids.length);
    } finally {
      compare.mockRestore();
    }
    const deltas = oids.map((baseOid) => ({ baseOid, delta: deltaOf(0, 0, []) }));
    await expect(open(packOf(deltas))).rejects.toEqual(reject("protocol", "2000 deltas are for objects"));
  });

  test("with large objects is opened in chunks, and an abort stops that", async () => {
    const large = randomBytes(maxAtOnceBytes + 10);
    const letters = Buffer.alloc(maxAtOnceBytes + 1, "a");
    const insertions = Buffer.alloc(2 * letters.length, Buffer.from([1, 97]));
    const entries: PackEntry[] = [
      { type: "blob", bytes: large },
      { base: 0, delta: Buffer.concat([deltaOf(large.length, letters.length, []), insertions]) },
      blob("x"),
    ];
    await using objects = await open(packOf(entries));
    expect(large.equals((await objects.read(oidOf("blob", large))).bytes)).toBe(true);
    expect(letters.equals((await objects.read(oidOf("blob", letters))).bytes)).toBe(true);
    expect(await texts(objects, "x")).toEqual(["x"]);

    for (const alone of [entries[0], { type: "blob", bytes: Buffer.alloc(maxAtOnceBytes * 4) } as const]) {
      const file = await receivePack(inPieces(packOf(alone === undefined ? [] : [alone])), defaultGitLimits);
      const stopped = new AbortController();
      stopped.abort(new Error("stopped"));
      const opening = withoutSlices(() => openPack(file, defaultGitLimits, stopped.signal));
      await expect(opening).rejects.toThrow("stopped");
    }
  });

  test("stops a read when the run is aborted, even after the fetch", async () => {
    const [fetched, stopped] = [new AbortController(), new AbortController()];
    const pack = packOf([blob("x")]);
    const file = await receivePack(inPieces(pack), defaultGitLimits);
    await using objects = await openPack(file, defaultGitLimits, fetched.signal, stopped.signal);
    fetched.abort(new Error("fetched"));
    expect(await withoutSlices(() => texts(objects, "x"))).toEqual(["x"]);
    stopped.abort(new Error("stopped"));
    await expect(texts(objects, "x")).rejects.toThrow("stopped");
  });

  test.each<[title: string, stream: Buffer, why: string]>([
    ["is not a valid stream", Buffer.alloc(100, 7), "not a zlib stream"],
    ["is longer than declared", deflateSync(Buffer.alloc(maxAtOnceBytes + 11)), "not a zlib stream"],
    ["is shorter than declared", deflateSync(Buffer.alloc(maxAtOnceBytes + 9)), "not a zlib stream"],
    ["breaks off", deflateSync(randomBytes(maxAtOnceBytes + 10)).subarray(0, 1_000), "ends within an entry"],
  ])("with a large object that %s is refused", async (_, stream, why) => {
    const head = entryHead(3, maxAtOnceBytes + 10);
    const pack = packOf([], { damage: (all) => Buffer.concat([all, head, stream]), claimed: 1 });
    await expect(open(pack)).rejects.toEqual(reject("protocol", why));
  });

  test("has no name on disk while it is read, and dispose closes it", async () => {
    const objects = await open(packOf([blob("a")]));
    expect(await readdir(folder)).toEqual([]);
    await objects[Symbol.asyncDispose]();
    await expect(objects.read(oidOf("blob", bytesOf("a")))).rejects.toThrow(/fd|EBADF/);
  });

  test("of arbitrary bytes is refused with a failure", async () => {
    const valid = packOf([
      blob("abc"),
      { base: 0, delta: deltaOf(3, 6, [{ from: 0, length: 3 }, { insert: bytesOf("def") }]) },
    ]);
    const flips = fc.array(fc.tuple(fc.nat({ max: valid.length - 21 }), fc.nat({ max: 255 })), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(flips, async (changes) => {
        const damage = (all: Buffer): Buffer => {
          for (const [at, byte] of changes) all[at] = byte;
          return all;
        };
        const pack = packOf(
          [blob("abc"), { base: 0, delta: deltaOf(3, 6, [{ from: 0, length: 3 }, { insert: bytesOf("def") }]) }],
          { damage },
        );
        const outcome = await open(pack, small).then(
          async (objects) => {
            await objects[Symbol.asyncDispose]();
            return "opened";
          },
          (error: unknown) => (error instanceof GitFault ? "GitFault" : error),
        );
        expect(["opened", "GitFault"]).toContain(outcome);
      }),
    );
  });
});

/** A delta that copies its base. */
function bomb(bytes: number): Buffer {
  return deltaOf(bytes, bytes, [{ from: 0, length: bytes }]);
}
