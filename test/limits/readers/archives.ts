import { randomBytes } from "node:crypto";
import { messageOf } from "../../../lib/core/failure.ts";
import { archiveTree, maxIgnoreBytes, maxPatterns } from "../../../lib/sources/archive/archive-tree.ts";
import { followLinks, type LinkedEntry, maxSteps } from "../../../lib/sources/archive/follow-links.ts";
import { gzip, packTar, type TreeEntry } from "../../../lib/sources/archive/pack-tar.ts";
import { defaultArchiveLimits, unpack } from "../../../lib/sources/archive/unpack.ts";
import { inGateOrDeep } from "../../size.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;

const files = (count: number, bytes: Uint8Array): readonly TreeEntry[] =>
  Array.from({ length: count }, (_, at) => ({ type: "file", path: `d/${at}`, mode: 0o600, bytes }));

const fileOf = (path: string, bytes: Uint8Array): TreeEntry => ({ type: "file", path, mode: 0o600, bytes });

const patterns = (pattern: (at: number) => string): string =>
  Array.from({ length: maxPatterns - 10 }, (_, at) => pattern(at)).join("\n");

function ignoring(name: string, entries: readonly TreeEntry[], rules: string): WorstInput {
  return {
    reader: "lib/sources/archive/ignore-rules.ts",
    name,
    memoryMiB: 400,
    make: async () => () => archiveTree(entries, rules, signal).catch(messageOf),
  };
}

function unpacking(name: string, entries: () => readonly TreeEntry[], memoryMiB: number): WorstInput {
  return {
    reader: "lib/sources/archive/unpack.ts",
    name,
    memoryMiB,
    make: async () => {
      const packed = await gzip(packTar(entries(), 0o750));
      return () => unpack(packed, defaultArchiveLimits, signal).catch(messageOf);
    },
  };
}

/** The worst inputs of what reads archives. */
export const archiveReaders: readonly WorstInput[] = [
  unpacking(
    "empty files, as many as are allowed",
    () => files(defaultArchiveLimits.maxEntries - 2, Buffer.alloc(0)),
    400,
  ),
  unpacking("a file of 150 MiB that packs well", () => files(1, Buffer.alloc(150 * 1024 * 1024)), 500),
  {
    reader: "lib/sources/archive/pack-tar.ts",
    name: "files that do not pack, 20 MiB of them",
    memoryMiB: 400,
    make: async () => {
      const entries = Array.from({ length: 200 }, (_, at) => fileOf(`d/${at}`, randomBytes(100 * 1024)));
      return () => archiveTree(entries, "", signal).catch(messageOf);
    },
  },
  ignoring("1 MiB of short patterns", files(1, Buffer.alloc(0)), "a\n".repeat(maxIgnoreBytes / 2)),
  ignoring(
    "10,000 files, with as many patterns as are allowed",
    files(defaultArchiveLimits.maxEntries / 10, Buffer.alloc(0)),
    patterns((at) => `x${at}/**/*a*b*c`),
  ),
  ignoring(
    "paths of as many names as are allowed, with as many patterns as are allowed",
    Array.from({ length: inGateOrDeep(1, 20) }, (_, at) => fileOf(`${"a/".repeat(2_000)}${at}`, Buffer.alloc(0))),
    patterns(() => `*${"a*".repeat(200)}b`),
  ),
  {
    reader: "lib/sources/archive/follow-links.ts",
    name: "links that lead over 2,000,000 folders and links",
    memoryMiB: 400,
    make: async () => {
      const tree = new Map<string, LinkedEntry>([["d", { type: "directory", path: "d" }]]);
      const target = `${"./".repeat(2_000)}d`;
      for (let at = 0; at < maxSteps / 1_000; at++) {
        tree.set(`l${at}`, { type: "link", path: `l${at}`, target });
      }
      const words = { root: "archive", whole: "archive", mend: "" };
      const limits = {
        maxEntries: defaultArchiveLimits.maxEntries,
        maxPathBytes: 4_096,
        maxPathsBytes: 16 * 1024 * 1024,
      };
      const fault = (text: string): Error => new RangeError(text);
      return () => followLinks({ entries: tree, ...words, ...limits, fault }, signal).catch(messageOf);
    },
  },
];
