import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { createGzip, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import { readTar } from "../../../lib/sources/archive/read-tar.ts";
import { type ArchiveLimits, defaultArchiveLimits, unpack } from "../../../lib/sources/archive/unpack.ts";
import { type Member, tarOf } from "./tar-of.ts";
import { contentOf } from "./tree-file.ts";
import { unpackTar } from "./unpack-tar.ts";

const execute = promisify(execFile);
const forever = new AbortController().signal;

function unpackMembers(members: readonly Member[], limits: Partial<ArchiveLimits> = {}) {
  return unpackTar(tarOf(members), limits);
}

async function namesOf(members: readonly Member[]): Promise<readonly string[]> {
  return (await unpackMembers(members)).entries.map(({ path }) => path);
}

describe("unpacking a layer", () => {
  test("reads the output of GNU tar: long names, hard links, symbolic links, folders", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-archive-"));
    const long = `${"n".repeat(200)}.yaml`;
    const script = `mkdir in in/sub && echo a > in/sub/a && echo l > in/${long} && ln in/sub/a in/hard && ln -s sub/a in/soft`;
    await execute(
      "sh",
      ["-c", `${script} && tar -C in --format=gnu -czf gnu.tgz . && tar -C in --format=pax -czf pax.tgz .`],
      {
        cwd: folder,
      },
    );
    for (const name of ["gnu.tgz", "pax.tgz"]) {
      const { entries, links } = await unpack(await readFile(join(folder, name)), defaultArchiveLimits, forever);
      expect(entries.map(({ path }) => path).toSorted()).toEqual(["hard", long, "sub", "sub/a"].toSorted());
      expect(links).toContainEqual({ type: "link", path: "soft", target: "sub/a" });
      expect(links).toHaveLength(2);
    }
    await rm(folder, { recursive: true });
  });

  test("11.3/72: skips symbolic links and names them", async () => {
    const { entries, links } = await unpackMembers([
      { name: "a.yaml", content: "a" },
      { name: "out", type: "2", link: "/etc/passwd" },
      { name: "up", type: "2", link: "../../secret" },
    ]);
    expect(entries.map(({ path }) => path)).toEqual(["a.yaml"]);
    expect(links.map(({ path }) => path)).toEqual(["out", "up"]);
  });

  test("a hard link becomes an empty file, as in Flux, whatever its target is", async () => {
    const { entries, links } = await unpackMembers([{ name: "b.yaml", type: "1", link: "/etc/passwd" }]);
    expect(entries).toMatchObject([{ path: "b.yaml", type: "file" }]);
    expect(entries.flatMap((one) => (one.type === "file" ? [one.bytes.length] : []))).toEqual([0]);
    expect(links.map(({ path }) => path)).toEqual(["b.yaml"]);
  });

  test("the last member with a name wins, and parent folders may be missing in the tar", async () => {
    const { entries } = await unpackMembers([
      { name: "./a/b.yaml", content: "one" },
      { name: "a/b.yaml", content: "two" },
    ]);
    expect(entries.map(({ path }) => path)).toEqual(["a", "a/b.yaml"]);
    expect(entries.map(contentOf).at(-1)?.bytes).toBe(Buffer.from("two").toString("hex"));
  });

  const kinds = {
    file: { name: "a", content: "own" },
    soft: { name: "a", type: "2", link: "x" },
    hard: { name: "a", type: "1", link: "y" },
  };
  const targets: Readonly<Record<string, readonly string[]>> = { file: [], soft: ["x"], hard: ["y"] };
  const sizes: Readonly<Record<string, readonly number[]>> = { file: [3], soft: [], hard: [0] };
  const pairs = Object.entries(kinds).flatMap(([first, one]) =>
    Object.entries(kinds).map(([second, other]) => ({ first, second, members: [one, other] })),
  );
  test.each(pairs)(
    "of a $first and a $second with the same name, the last one wins",
    async ({ first, second, members }) => {
      const { entries, links } = await unpackMembers(members);
      expect(links.map(({ target }) => target)).toEqual(targets[second]);
      // A soft link is left out, so what was there before it stays, as in Flux.
      const shown = second === "soft" ? first : second;
      const found = entries.flatMap((entry) => (entry.type === "file" ? [entry.bytes.length] : []));
      expect(found).toEqual(sizes[shown]);
    },
  );

  test("a GNU long name or target applies only to the next member", async () => {
    const long = "n".repeat(200);
    const { entries, links } = await unpackMembers([
      { name: "././@LongLink", type: "K", content: `${long}\0` },
      { name: "l1", type: "2", link: "short" },
      { name: "l2", type: "2", link: "own" },
      { name: "././@LongLink", type: "L", content: `${long}\0` },
      { name: "f1", content: "1" },
      { name: "f2", content: "2" },
    ]);
    expect(links.map(({ path, target }) => [path, target])).toEqual([
      ["l1", long],
      ["l2", "own"],
    ]);
    expect(entries.map(({ path }) => path)).toEqual([long, "f2"]);
  });

  test.each([
    { name: "l", type: "2", link: "x" },
    { name: "l", type: "1", link: "x" },
    { name: "d", type: "5" },
  ])("a member without content has none, whatever its header says: $name of type $type", async (member) => {
    const { entries } = await unpackMembers([
      { ...member, size: 700 },
      { name: "next", content: "next" },
    ]);
    expect(entries.map(contentOf).at(-1)?.bytes).toBe(Buffer.from("next").toString("hex"));
  });

  test.each([
    ["7", "a", "file"],
    ["\0", "a", "file"],
    ["\0", "a/", "directory"],
    ["5", "a", "directory"],
    ["0", "a", "file"],
  ])("a member of type %j with the name %s is a %s", async (type, name, is) => {
    const { entries } = await unpackMembers([{ name, type }]);
    expect(entries.map((entry) => [entry.path, entry.type])).toEqual([["a", is]]);
  });

  test("a size may be a binary number", async () => {
    // 0x01c8: one byte has its highest bit.
    const content = "x".repeat(456);
    const tar = tarOf([
      { name: "a", content },
      { name: "b", content: "b" },
    ]);
    tar.fill(0, 124, 136).writeUInt8(0x80, 124);
    tar.writeUInt32BE(456, 132);
    tar.write("        ", 148);
    const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    tar.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148);
    const { entries } = await unpackTar(tar);
    expect(entries.map(contentOf).map((entry) => entry.bytes.length)).toEqual([912, 2]);
  });

  test("as many entries as allowed are unpacked, and small files with any compression ratio", async () => {
    const members = Array.from({ length: 3 }, (_, index) => ({ name: `f${index}`, content: "0".repeat(100_000) }));
    const limits = { maxEntries: 3, maxRatio: 2 };
    expect((await unpackMembers(members, limits)).entries).toHaveLength(3);
    await expect(unpackMembers([...members, { name: "f4" }], limits)).rejects.toThrow("tar has more than 3 entries");
  });

  test("content that is not needed is skipped, including the padding of its last block", async () => {
    const names: string[] = [];
    const sizes = [1, 511, 512, 513, 0];
    const tar = tarOf(sizes.map((size) => ({ name: `f${size}`, content: "x".repeat(size) })));
    for await (const { name } of readTar(Readable.from([tar]))) names.push(name);
    expect(names).toEqual(sizes.map((size) => `f${size}`));
  });

  test("a pax global header, as git archive writes it, is an empty file", async () => {
    const { entries } = await unpackMembers([
      { name: "pax_global_header", type: "g", content: "52 comment=x\n" },
      { name: "a" },
    ]);
    expect(entries.map(({ path }) => path)).toEqual(["pax_global_header", "a"]);
    expect(entries.map(contentOf)[0]?.bytes).toBe("");
  });

  test("a pax path overrides the header's name, for its member only", async () => {
    const members = [
      { name: "PaxHeaders/x", type: "x", content: "13 path=long\n" },
      { name: "short" },
      { name: "other" },
    ];
    expect(await namesOf(members)).toEqual(["long", "other"]);
  });

  test("a pax size overrides the header's, for its member only", async () => {
    const { entries } = await unpackMembers([
      { name: "PaxHeaders/x", type: "x", content: "10 size=5\n" },
      { name: "a", content: "hello", size: 0 },
      { name: "b", content: "abc" },
    ]);
    expect(entries.map(contentOf).map(({ bytes }) => bytes)).toEqual(
      ["hello", "abc"].map((text) => Buffer.from(text).toString("hex")),
    );
  });

  test("bytes after the end mark are ignored", async () => {
    const tar = Buffer.concat([tarOf([{ name: "a" }]), Buffer.from("garbage")]);
    expect((await unpackTar(tar)).entries.map(({ path }) => path)).toEqual(["a"]);
  });

  test.each<readonly [what: string, members: readonly Member[], message: string | RegExp]>([
    ["11.3/73: a way out", [{ name: "a/../../b" }], 'tar contained invalid name error "a/../../b"'],
    ["a path out of the layer at the end", [{ name: "a/.." }], 'tar contained invalid name error "a/.."'],
    ["an absolute path", [{ name: "/etc/cron.d/x" }], 'tar contained invalid name error "/etc/cron.d/x"'],
    ["a backslash", [{ name: "a\\b" }], 'tar contained invalid name error "a\\\\b"'],
    ["a pax path with a NUL", [{ name: "p", type: "x", content: "12 path=a\0b\n" }, { name: "a" }], "invalid name"],
    [
      "a pax path out of the layer",
      [{ name: "p", type: "x", content: "13 path=../x\n" }, { name: "a" }],
      "invalid name",
    ],
    [
      "11.3/72: a device",
      [{ name: "null", type: "3", mode: 0o666 }],
      "tar file entry null contained unsupported file type Dcrw-rw-rw-",
    ],
    ["a pipe", [{ name: "fifo", type: "6" }], "tar file entry fifo contained unsupported file type prw-r--r--"],
    ["a sparse file", [{ name: "s", type: "S" }], "sparse"],
    ["a file where a folder is", [{ name: "a/b" }, { name: "a" }], "tar file entry a is a file where a folder is"],
    ["a folder where a file is", [{ name: "a" }, { name: "a/b" }], "mkdir a: not a directory"],
    ["a bad pax header", [{ name: "p", type: "x", content: "99 path=x\n" }, { name: "a" }], "invalid tar header"],
    [
      "many folders in each other",
      [{ name: "p", type: "x", content: `213 path=${"d/".repeat(101)}f\n` }, { name: "a" }],
      "folders more than 100 deep",
    ],
    [
      "a symbolic link whose text is longer than a path",
      [
        { name: "p", type: "K", content: "a/../".repeat(820) },
        { name: "l", type: "2" },
      ],
      "tar file entry l is a link of more than 4096 bytes: a/../a/..",
    ],
    [
      "a hard link whose text is longer than a path",
      [
        { name: "p", type: "x", content: `4116 linkpath=${"n".repeat(4101)}\n` },
        { name: "l", type: "1" },
      ],
      "tar file entry l is a link of more than 4096 bytes: nnnn",
    ],
  ])("is refused for %s", async (_what, members, message) => {
    await expect(unpackMembers(members)).rejects.toThrow(message);
  });

  test("11.3/71: is refused if the layer is not gzipped", async () => {
    await expect(unpack(tarOf([{ name: "a" }]), defaultArchiveLimits, forever)).rejects.toThrow(
      "requires gzip-compressed body",
    );
    for (const [length, why] of [
      [0, "EOF"],
      [6, "unexpected EOF"],
      [600, "gzip: invalid header"],
    ] as const) {
      await expect(unpack(Buffer.alloc(length), defaultArchiveLimits, forever)).rejects.toThrow(
        new RangeError(`requires gzip-compressed body: ${why}`),
      );
    }
    const broken = gzipSync(tarOf([{ name: "a", content: "x".repeat(5_000) }]));
    await expect(unpack(broken.subarray(0, -40), defaultArchiveLimits, forever)).rejects.toThrow(RangeError);
  });

  test("is refused for an invalid or truncated tar", async () => {
    await expect(unpackTar(Buffer.from("x".repeat(600)))).rejects.toThrow("tar error: archive/tar: invalid tar header");
    const cut = tarOf([{ name: "a", content: "x".repeat(5_000) }]).subarray(0, 1_024);
    await expect(unpackTar(cut)).rejects.toThrow("tar error: unexpected EOF");
  });

  const header = tarOf([{ name: "a", content: "x".repeat(600) }]).subarray(0, 512);
  const whole = tarOf([{ name: "a", content: "x".repeat(600) }]).subarray(0, -1_024);
  const zeros = (bytes: number): Buffer => Buffer.alloc(bytes);

  test.each<readonly [what: string, tar: Uint8Array, message: string]>([
    ["five bytes of text", Buffer.from("hello"), "unexpected EOF"],
    ["511 zeros", zeros(511), "unexpected EOF"],
    ["one header, cut off", header.subarray(0, 511), "unexpected EOF"],
    ["a header without its content", header, "unexpected EOF"],
    ["content that ends a byte early", whole.subarray(0, 512 + 599), "unexpected EOF"],
    ["a second header, cut off", Buffer.concat([whole, header.subarray(0, 100)]), "unexpected EOF"],
    ["an end mark, cut off in its first block", Buffer.concat([whole, zeros(1)]), "unexpected EOF"],
    ["an end mark, cut off in its second block", Buffer.concat([whole, zeros(513)]), "unexpected EOF"],
    ["one block of zeros and then none", Buffer.concat([whole, zeros(512), header]), "archive/tar: invalid tar header"],
  ])("a tar of %s is refused with Go's message", async (_what, tar, message) => {
    await expect(unpackTar(tar)).rejects.toThrow(`tar error: ${message}`);
  });

  test.each<readonly [what: string, tar: Uint8Array, names: readonly string[]]>([
    ["no bytes", zeros(0), []],
    ["only an end mark", zeros(1_024), []],
    ["half an end mark", zeros(512), []],
    ["no end mark", whole, ["a"]],
    ["half an end mark after its members", Buffer.concat([whole, zeros(512)]), ["a"]],
    ["padding that is cut off", whole.subarray(0, 512 + 600), ["a"]],
    ["padding that is cut off midway", whole.subarray(0, 512 + 700), ["a"]],
  ])("a tar with %s is read as in Go", async (_what, tar, names) => {
    expect((await unpackTar(tar)).entries.map(({ path }) => path)).toEqual(names);
  });

  test("arbitrary bytes are either unpacked or refused", async () => {
    const good = tarOf([
      { name: "a", content: "abc" },
      { name: "d", type: "5" },
    ]);
    const judge = (tar: Uint8Array) =>
      unpackTar(tar).then(
        () => "unpacked",
        (error: unknown) => (error instanceof RangeError ? "refused" : "broken"),
      );
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: good.length - 1 }), fc.nat({ max: 255 }), async (at, byte) => {
        const tar = Uint8Array.from(good);
        tar[at] = byte;
        expect(["unpacked", "refused"]).toContain(await judge(tar));
      }),
    );
  });
});

describe("archive bombs are refused with bounded memory", () => {
  /** Only the words: a matcher that fails would print all that was unpacked. */
  const outcome = (work: Promise<unknown>): Promise<string> => work.then(() => "unpacked", messageOf);
  const zeros = Buffer.alloc(1024 * 1024);

  test("a header that declares more bytes than allowed", async () => {
    const promise = tarOf([{ name: "zeros", size: 10 * 1024 ** 3 }]).subarray(0, 512);
    expect(await outcome(unpackTar(promise))).toContain("tar is bigger than max archive size of 167772160 bytes");
  });

  test("gigabytes of zeros", async () => {
    const header = tarOf([{ name: "zeros", size: 90 * 1024 ** 2 }]).subarray(0, 512);
    const packed = await packStream(header, zeros, 150);
    const strict = { ...defaultArchiveLimits, maxRatio: 100 };
    expect(await outcome(unpack(packed, strict, forever))).toContain(
      "tar unpacks to more than 100 times its packed size",
    );
    const calm = { ...defaultArchiveLimits, maxRatio: 5_000, maxBytes: 60 * 1024 ** 2 };
    expect(await outcome(unpack(packed, calm, forever))).toContain(
      "tar is bigger than max archive size of 62914560 bytes",
    );
  });

  test("many members that together exceed the limit", async () => {
    const members = Array.from({ length: 100 }, (_, index): Member => ({ name: `f${index}`, content: "x" }));
    expect(await outcome(unpackMembers(members, { maxBytes: 102_000 }))).toContain(
      "tar is bigger than max archive size of 102000 bytes",
    );
    expect(await outcome(unpackMembers(members, { maxBytes: 104_000 }))).toBe("unpacked");
  });

  test("folders that are not members of the tar", async () => {
    const deep = (index: number): Member => {
      const path = `p${index}/${"d/".repeat(80)}f`;
      const rest = ` path=${path}\n`;
      return { name: "p", type: "x", content: `${rest.length + 3}${rest}` };
    };
    const members = Array.from({ length: 300 }, (_, index) => [deep(index), { name: "f" }]).flat();
    const work = outcome(unpackMembers(members, { maxEntries: 20_000 }));
    expect(await work).toBe("tar has more than 20000 entries");
  });

  test("a million entries", async () => {
    const one = tarOf([{ name: "e" }]).subarray(0, 512);
    const block = Buffer.concat(Array.from({ length: 2_048 }, () => one));
    const packed = await packStream(block, block, 489);
    const limits = { ...defaultArchiveLimits, maxRatio: 10_000 };
    expect(await outcome(unpack(packed, limits, forever))).toContain("tar has more than 100000 entries");
  });

  test("other tasks run while an archive is unpacked, and an aborted run stops it", async () => {
    const packed = await packStream(tarOf([{ name: "z", size: 90 * 1024 ** 2 }]).subarray(0, 512), zeros, 95);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const stop = new AbortController();
    const work = outcome(unpack(packed, { ...defaultArchiveLimits, maxRatio: 10_000 }, stop.signal));
    await expect.poll(() => turns, { interval: 1 }).toBeGreaterThan(2);
    stop.abort(new Error("the run has ended"));
    expect(await work).toBe("the run has ended");
    clearInterval(timer);
  });
});

/** Packs a head and then a block many times over, without holding it unpacked. */
async function packStream(head: Uint8Array, block: Uint8Array, times: number): Promise<Uint8Array> {
  const gzip = createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise((resolve) => gzip.once("end", resolve));
  gzip.write(head);
  for (let count = 0; count < times; count++) {
    if (!gzip.write(block)) await new Promise((resolve) => gzip.once("drain", resolve));
  }
  gzip.end();
  await ended;
  return Buffer.concat(chunks);
}
