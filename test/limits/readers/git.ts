import { createHash, randomBytes } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";
import { checkOut } from "../../../lib/sources/git/checkout/check-out.ts";
import { maxGitmodulesBytes, parseGitmodules } from "../../../lib/sources/git/checkout/gitmodules.ts";
import { chooseRef } from "../../../lib/sources/git/choose-ref.ts";
import { maxCommitBytes, parseCommit, parseTag } from "../../../lib/sources/git/git-object.ts";
import { defaultGitLimits } from "../../../lib/sources/git/git-remote.ts";
import { maxTreeEntries, maxTreePathBytes, walkTree } from "../../../lib/sources/git/git-tree.ts";
import { readGreeting } from "../../../lib/sources/git/greeting.ts";
import { httpTransport } from "../../../lib/sources/git/http-transport.ts";
import { knownHostKeys, maxHostChars, maxKnownHostsChars } from "../../../lib/sources/git/known-hosts.ts";
import { receivePack } from "../../../lib/sources/git/pack-file.ts";
import { openPack } from "../../../lib/sources/git/pack-objects.ts";
import { flushPkt, pktLine, pktReader, pktText } from "../../../lib/sources/git/pkt-line.ts";
import { readRefs } from "../../../lib/sources/git/upload-pack.ts";
import { signedCommit, signedTag } from "../../../lib/sources/git/verify/signed-object.ts";
import { verifySignature } from "../../../lib/sources/git/verify/verify-signature.ts";
import { changeTree } from "../../../lib/sources/git/write/change-tree.ts";
import { newObjects } from "../../../lib/sources/git/write/new-objects.ts";
import { assertTaken, maxReportBytes, readReport } from "../../../lib/sources/git/write/receive-pack.ts";
import { inGateOrDeep } from "../../size.ts";
import { deltaOf, entryHead, inPieces, oidOf } from "../../unit/sources/git/pack-of.ts";
import type { WorstInput } from "../worst-input.ts";

const blob = 3;
const refDelta = 7;
const { maxObjectBytes, maxObjects } = defaultGitLimits;
/** Of a pack. A tenth shows too whether the work lies in turns, and what an object takes. */
const packObjects = inGateOrDeep(maxObjects / 10, maxObjects);
const packMiB = inGateOrDeep(192, 512);
const packedText = packObjects.toLocaleString("en");

/** A pack of entries as they stand in it. */
function packOfEntries(entries: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(12);
  header.write("PACK");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(entries.length, 8);
  const body = Buffer.concat([header, ...entries]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

function entryOf(type: number, bytes: Uint8Array, packed = deflateSync(bytes)): Buffer {
  return Buffer.concat([entryHead(type, bytes.length), packed]);
}

function deltaEntry(baseOid: Buffer, delta: Uint8Array, packed = deflateSync(delta)): Buffer {
  return Buffer.concat([entryHead(refDelta, delta.length), baseOid, packed]);
}

/** The most insertions of a byte that a delta can have, for a base of one byte. */
function manyInsertions(letter: string): Buffer {
  const count = maxObjectBytes / 2 - 10;
  return Buffer.concat([deltaOf(1, count, []), Buffer.alloc(2 * count, Buffer.from([1, letter.charCodeAt(0)]))]);
}

/** Ids that are different only at their end. */
function idsAlike(count: number): readonly Buffer[] {
  return Array.from({ length: count }, (_, index) => {
    const oid = Buffer.alloc(20, 0xde);
    oid.writeUInt32BE(index, 16);
    return oid;
  });
}

const x = Buffer.from("x");
const oidOfX = Buffer.from(oidOf("blob", x), "hex");

function packReader(name: string, memoryMiB: number, entries: () => readonly Buffer[]): WorstInput {
  return {
    reader: "lib/sources/git/pack-objects.ts",
    name,
    memoryMiB,
    async make() {
      const pack = packOfEntries(entries());
      const file = await receivePack(inPieces(pack), defaultGitLimits);
      return async () => {
        const signal = AbortSignal.timeout(defaultGitLimits.timeoutMs);
        return openPack(file, defaultGitLimits, signal).catch((error: unknown) => error);
      };
    },
  };
}

const empty = deflateSync(Buffer.from([1, 0]));

/** An object that is read at once. */
function bytesReader(
  reader: string,
  name: string,
  { memoryMiB, make, read }: { memoryMiB: number; make: () => Buffer; read: (bytes: Buffer) => unknown },
): WorstInput {
  return {
    reader,
    name,
    memoryMiB,
    async make() {
      const bytes = make();
      return async () => {
        try {
          return await read(bytes);
        } catch (error) {
          return error;
        }
      };
    },
  };
}

/** The head, and as much of the line as the limit allows. */
function filled(head: string, line: string, maxBytes: number): Buffer {
  return Buffer.concat([Buffer.from(head), Buffer.alloc(maxBytes - head.length, line)]);
}

const oid = "a".repeat(40);
const commitHead = `tree ${oid}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n`;
const tagHead = `object ${oid}\ntype commit\ntag v1\n`;

const commitLines = { headers: "g\n", "lines that go on": " \n", signatures: "gpgsig \n", parents: `parent ${oid}\n` };

const commits = Object.entries(commitLines).flatMap(([lines, line]) => [
  bytesReader("lib/sources/git/git-object.ts", `a commit of ${lines}`, {
    memoryMiB: 32,
    make: () => filled(commitHead, line, maxCommitBytes),
    read: parseCommit,
  }),
  bytesReader("lib/sources/git/verify/signed-object.ts", `a commit of ${lines}`, {
    memoryMiB: 64,
    make: () => filled(commitHead, line, maxCommitBytes),
    read: signedCommit,
  }),
]);

const tags = [
  bytesReader("lib/sources/git/git-object.ts", "a tag of headers", {
    memoryMiB: 32,
    make: () => filled(tagHead, "a\n", maxCommitBytes),
    read: parseTag,
  }),
  bytesReader("lib/sources/git/verify/signed-object.ts", "a tag of empty lines", {
    memoryMiB: 32,
    make: () => filled(tagHead, "\n", maxCommitBytes),
    read: signedTag,
  }),
  bytesReader("lib/sources/git/verify/signed-object.ts", "a tag of lines that almost begin an armor", {
    memoryMiB: 32,
    make: () => filled(tagHead, "-----BEGIN PGP SIGNATURE----\n", maxCommitBytes),
    read: signedTag,
  }),
];

async function* over(bytes: Buffer): AsyncGenerator<Uint8Array, undefined, undefined> {
  for await (const piece of inPieces(bytes)) {
    // As a connection gives them: one in each turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    yield piece;
  }
  return undefined;
}

function linesOfRefs(line: (index: number) => string): Buffer {
  const lines: string[] = [];
  for (let bytes = 0, index = 0; index < defaultGitLimits.maxRefs; index++) {
    const next = pktLine(line(index));
    bytes += next.length;
    if (bytes > defaultGitLimits.maxRefBytes) break;
    lines.push(next);
  }
  return Buffer.from([...lines, flushPkt].join(""));
}

const signal = new AbortController().signal;
const refsOf = (bytes: Buffer) => readRefs(pktReader(over(bytes)), defaultGitLimits);
const times = (commits: readonly string[]) => Promise.resolve(new Map(commits.map((one, index) => [one, index])));
const oidOfIndex = (index: number): string => index.toString(16).padStart(40, "0");

const listings = [
  bytesReader("lib/sources/git/upload-pack.ts", "100,000 refs in 64 MiB", {
    memoryMiB: 320,
    make: () => linesOfRefs((index) => `${oidOfIndex(index)} refs/heads/${String(index).padEnd(590, "x")}`),
    read: refsOf,
  }),
  bytesReader("lib/sources/git/upload-pack.ts", "refs of 64 KiB with attributes", {
    memoryMiB: 320,
    make: () => linesOfRefs((index) => `${oidOfIndex(index)} refs/heads/${index}${" ".repeat(65_000)}`),
    read: refsOf,
  }),
  bytesReader("lib/sources/git/choose-ref.ts", "100,000 tags of the same version", {
    memoryMiB: 320,
    make: () => linesOfRefs((index) => `${oidOfIndex(index)} refs/tags/1.0.0+${index}`),
    read: async (bytes) => chooseRef({ semver: "*" }, await refsOf(bytes), times, signal),
  }),
  bytesReader("lib/sources/git/greeting.ts", "capabilities of a byte", {
    memoryMiB: 64,
    make: () =>
      Buffer.from(
        [
          pktLine("version 2"),
          ...Array.from({ length: 60_000 }, (_, index) => pktLine(String.fromCharCode(97 + (index % 26)))),
          flushPkt,
        ].join(""),
      ),
    read: (bytes) => readGreeting(pktReader(over(bytes)), defaultGitLimits),
  }),
  bytesReader("lib/sources/git/greeting.ts", "100,000 refs of version 0", {
    memoryMiB: 320,
    make: () =>
      linesOfRefs(
        (index) => `${oidOfIndex(index)} refs/heads/${index}${index === 0 ? `\0${"a ".repeat(32_000)}` : ""}`,
      ),
    read: (bytes) => readGreeting(pktReader(over(bytes)), defaultGitLimits),
  }),
];

const push = { ref: "refs/heads/main", from: "0".repeat(40), to: oid };

const reports = [
  bytesReader("lib/sources/git/write/receive-pack.ts", "references of a byte that the push did not name", {
    memoryMiB: 96,
    make: () => {
      const line = pktLine("ng a a");
      const lines = [pktLine("unpack ok"), line.repeat(Math.floor(maxReportBytes / line.length) - 20), flushPkt];
      return Buffer.from(lines.join(""));
    },
    read: async (bytes) =>
      assertTaken(await readReport(pktReader(over(bytes)), new Map([["report-status", ""]])), [push]),
  }),
  bytesReader("lib/sources/git/write/receive-pack.ts", "messages of a line feed each", {
    memoryMiB: 96,
    make: () => {
      const line = pktText("\u0002\n");
      return Buffer.from(line.repeat(maxReportBytes) + pktText("\u0003no") + flushPkt);
    },
    read: (bytes) => readReport(pktReader(over(bytes)), new Map([["side-band-64k", ""]])),
  }),
];

/** What a server answers in pieces of 64 KiB, as a connection gives them. */
const answers = [
  bytesReader("lib/sources/git/http-transport.ts", "64 MiB of nothing, packed", {
    memoryMiB: 128,
    make: () => gzipSync(Buffer.alloc(defaultGitLimits.maxRefBytes)),
    async read(body) {
      const headers = {
        "content-type": "application/x-git-upload-pack-advertisement",
        "content-encoding": "gzip",
      };
      const stream = { status: 200, headers, body: over(body), [Symbol.dispose]: () => undefined };
      const http = { open: async ({ url }: { readonly url: string }) => ({ ...stream, url }) };
      const given = await httpTransport({ url: "https://git.example/a" }, http).greet(signal);
      while (!(await given.next()).done);
    },
  }),
];

function treeEntry(mode: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.alloc(20, 1)]);
}

function treeReader(name: string, tree: () => Buffer, folders?: readonly string[]): WorstInput {
  return bytesReader("lib/sources/git/git-tree.ts", name, {
    memoryMiB: 256,
    make: tree,
    async read(bytes) {
      const objects = { read: async () => ({ type: "tree", bytes }) as const };
      for await (const _ of walkTree(objects, oid, { signal, ...(folders === undefined ? {} : { folders }) }));
    },
  });
}

/** A tree to which a file is added. */
function changedTree(name: string, tree: () => Buffer): WorstInput {
  return bytesReader("lib/sources/git/write/change-tree.ts", name, {
    memoryMiB: 256,
    make: tree,
    read(bytes) {
      const fetched = { has: (one: string) => one === oid, read: async () => ({ type: "tree", bytes }) as const };
      return changeTree(newObjects(fetched), oid, new Map([["new.yaml", x]]), signal);
    },
  });
}

const many = (count: number, entry: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => entry(index)));

const trees = [
  treeReader("100,000 files", () => many(maxTreeEntries, (index) => treeEntry("100644", `f${index}`))),
  treeReader("8,000 paths of 4 KiB", () =>
    many(8_000, (index) => treeEntry("100644", String(index).padEnd(maxTreePathBytes, "\u00c9").slice(0, 2_000))),
  ),
  treeReader("64 MiB without an end of a name", () => filled("100644 ", "a", maxObjectBytes)),
  treeReader(
    "100,000 files and 1,000 wanted folders",
    () => many(maxTreeEntries, (index) => treeEntry("100644", `f${index}`)),
    Array.from({ length: 1_000 }, (_, index) => `folder/${index}`),
  ),
  changedTree("100,000 files, and a new one beside them", () =>
    many(maxTreeEntries - 1, (index) => treeEntry("100644", `f${index}`)),
  ),
  changedTree("64 MiB without an end of a name", () => filled("100644 ", "a", maxObjectBytes)),
  bytesReader("lib/sources/git/checkout/check-out.ts", "99,000 files below 90 folders that lead to each other", {
    memoryMiB: 256,
    make: () => many(1_000, (index) => treeEntry("100644", `f${index}`)),
    read(bytes) {
      const inner = Buffer.concat([bytes, treeEntry("40000", "t")]);
      return checkOut({ read: async () => ({ type: "tree", bytes: inner }) }, oid, { signal });
    },
  }),
];

const modules = Object.entries({
  "variables of a section with a long name": [`[submodule "${"a".repeat(maxGitmodulesBytes / 2)}"]\n`, "a=\n"],
  "paths of a section": ['[submodule "a"]\n', "path=a\n"],
  sections: ["", '[submodule "a"]\n'],
  "a long value": ['[submodule "a"]\npath="', "\\\\"],
} as const).map(([name, [head, line]]) =>
  bytesReader("lib/sources/git/checkout/gitmodules.ts", name, {
    memoryMiB: 96,
    make: () => filled(head, line, maxGitmodulesBytes),
    read: parseGitmodules,
  }),
);

const sshBlob = Buffer.concat([
  Buffer.from([0, 0, 0, 11]),
  Buffer.from("ssh-ed25519"),
  Buffer.from([0, 0, 0, 32]),
  Buffer.alloc(32, 3),
]).toString("base64");
const hostLine = `|1|AAAA|AAAA ssh-ed25519 ${sshBlob}\n`;
const sshSignature = () => {
  const text = (bytes: Buffer | string): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(bytes));
    return Buffer.concat([length, Buffer.from(bytes)]);
  };
  const own = Buffer.concat([text("ssh-ed25519"), text(Buffer.alloc(32, 4))]);
  const value = Buffer.concat([text("ssh-ed25519"), text(Buffer.alloc(64, 1))]);
  const all = Buffer.concat([
    Buffer.from("SSHSIG"),
    Buffer.from([0, 0, 0, 1]),
    text(own),
    text("git"),
    text(""),
    text("sha512"),
    text(value),
  ]);
  return `-----BEGIN SSH SIGNATURE-----\n${all.toString("base64")}\n-----END SSH SIGNATURE-----`;
};

const secrets = [
  bytesReader("lib/sources/git/known-hosts.ts", "lines of hashed hosts", {
    memoryMiB: 64,
    make: () => filled("", hostLine, Math.floor(maxKnownHostsChars / hostLine.length) * hostLine.length),
    read: (bytes) => knownHostKeys(bytes.toString(), { host: "example.com", port: 22 }).fault(Buffer.alloc(4)),
  }),
  bytesReader("lib/sources/git/known-hosts.ts", "patterns of a long host", {
    memoryMiB: 128,
    make: () => filled("", "*a,", maxKnownHostsChars - 100),
    read: (bytes) =>
      knownHostKeys(`${bytes.toString()}b ssh-ed25519 ${sshBlob}`, { host: "a".repeat(maxHostChars), port: 22 }),
  }),
  bytesReader("lib/sources/git/verify/ssh-signature.ts", "keys that do not match", {
    memoryMiB: 64,
    make: () => Buffer.from(`ssh-ed25519 ${sshBlob}\n`.repeat(4_900)),
    read: (bytes) =>
      verifySignature(
        { type: "commit", payload: Buffer.alloc(10), signature: sshSignature() },
        new Map([["a.sshpub", bytes.toString()]]),
        0,
      ),
  }),
];

/** What git servers send, and what Secrets hold for them. */
export const gitReaders: readonly WorstInput[] = [
  packReader(`${packedText} deltas for objects whose ids begin alike`, packMiB, () => [
    entryOf(blob, x),
    ...idsAlike(packObjects - 1).map((oid) => Buffer.concat([entryHead(refDelta, 2), oid, empty])),
  ]),
  packReader(`${packedText} deltas for one object`, packMiB, () => {
    const entry = deltaEntry(oidOfX, deltaOf(1, 1, [{ from: 0, length: 1 }]));
    return [entryOf(blob, x), ...Array.from({ length: packObjects - 1 }, () => entry)];
  }),
  packReader(`${packedText} equal objects`, packMiB, () => {
    const entry = entryOf(blob, x);
    return Array.from({ length: packObjects }, () => entry);
  }),
  packReader("deltas of 33 million insertions", 512, () => [
    entryOf(blob, x),
    deltaEntry(oidOfX, manyInsertions("a")),
    deltaEntry(oidOfX, manyInsertions("b")),
  ]),
  packReader("objects of 64 MiB", 512, () => [
    entryOf(blob, Buffer.alloc(maxObjectBytes)),
    entryOf(blob, randomBytes(maxObjectBytes)),
  ]),
  ...commits,
  ...tags,
  ...listings,
  ...answers,
  ...reports,
  ...trees,
  ...modules,
  ...secrets,
];
