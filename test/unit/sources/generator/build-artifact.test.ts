import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { defaultArchiveLimits, unpack } from "../../../../lib/sources/archive/unpack.ts";
import { adler32, treeChecksum } from "../../../../lib/sources/generator/adler32.ts";
import { buildArtifact } from "../../../../lib/sources/generator/build-artifact.ts";
import { defaultGeneratorLimits } from "../../../../lib/sources/generator/generator-limits.ts";
import { artifactOf } from "../../manifests/build-files.ts";
import { budget, tree } from "./trees.ts";

const everything = { name: "web", copy: [{ from: "@a/**", to: "@artifact/" }] };

async function built(files: Readonly<Record<string, string>>, change: Parameters<typeof budget>[0] = {}) {
  return buildArtifact(everything, new Map([["a", tree(files)]]), budget(change));
}

async function filesOf(bytes: Uint8Array): Promise<readonly string[]> {
  const { entries } = await unpack(bytes, defaultArchiveLimits, new AbortController().signal);
  return entries.flatMap(({ path, type }) => (type === "file" ? [path] : []));
}

test.each([
  ["", 1],
  ["a", 0x00620062],
  ["Wikipedia", 0x11e60398],
  ["\xff".repeat(100_000), 0x149a302c],
])("the checksum of %j is the same as in zlib", (text, sum) => {
  const bytes = Buffer.from(text, "latin1");
  expect(adler32(bytes)).toBe(sum);
  // RFC 1950: the checksum ends a stream of zlib.
  expect(deflateSync(bytes).readUInt32BE(deflateSync(bytes).length - 4)).toBe(sum);
});

test("an artifact depends only on its files: the same ones give the same bytes and file name", async () => {
  const first = await built({ "b.yaml": "b", "a/c.yaml": "c" });
  expect(await built({ "a/c.yaml": "c", "b.yaml": "b" })).toEqual(first);
  // As golang.org/x/mod/sumdb/dirhash and hash/adler32 make it.
  expect(first.filename).toBe("3579906796.tar.gz");
  expect((await built({ "b.yaml": "B", "a/c.yaml": "c" })).filename).not.toBe(first.filename);
});

test("files are excluded by the default rules, whatever a .sourceignore says", async () => {
  const { bytes } = await built({ "a.yaml": "", "b.png": "", ".git/config": "", ".sourceignore": "a.yaml\n!b.png\n" });
  expect(await filesOf(bytes)).toEqual([".sourceignore", "a.yaml"]);
});

test("the content of an artifact does not depend on its name", async () => {
  const { bytes } = await buildArtifact(
    { ...everything, name: "web.zip" },
    new Map([["a", tree({ x: "" })]]),
    budget(),
  );
  expect(await filesOf(bytes)).toEqual(["x"]);
});

test("extracted files count on top of the sources, for their own artifact only", async () => {
  const sources = new Map([["a", tree({ "x.tgz": await artifactOf({ x: Buffer.alloc(3_000) }) })]]);
  const once = { name: "web", copy: [{ from: "@a/x.tgz", to: "@artifact/1", strategy: "Extract" as const }] };
  const twice = {
    ...once,
    copy: [...once.copy, { ...once.copy[0], from: "@a/x.tgz", to: "@artifact/2", strategy: "Extract" as const }],
  };
  const given = budget();
  given.memory.left = 8_000;
  await buildArtifact(once, sources, given);
  await buildArtifact(once, sources, given);
  expect(given.memory.left).toBe(8_000);
  await expect(buildArtifact(twice, sources, given)).rejects.toThrow(
    "tar is bigger than max archive size of 5000 bytes",
  );
});

test("files larger than an artifact may be are refused, and so is a name with a line break", async () => {
  const archive = { ...defaultGeneratorLimits.archive, maxBytes: 5 };
  await expect(built({ a: "123456" }, { archive })).rejects.toThrow("have more than 5 bytes together");
  await expect(treeChecksum(tree({ "a\nb": "" }), "web", budget())).rejects.toThrow("newlines are not supported");
});
