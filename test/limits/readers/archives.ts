import { messageOf } from "../../../lib/core/failure.ts";
import { archiveTree, maxPatterns } from "../../../lib/sources/archive/archive-tree.ts";
import { gzip, packTar, type TreeEntry } from "../../../lib/sources/archive/pack-tar.ts";
import { defaultArchiveLimits, unpack } from "../../../lib/sources/archive/unpack.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;

const files = (count: number, bytes: Uint8Array): readonly TreeEntry[] =>
  Array.from({ length: count }, (_, at) => ({ type: "file", path: `d/${at}`, mode: 0o600, bytes }));

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
    name: "empty files, as many as are allowed, with as many patterns as are allowed",
    memoryMiB: 400,
    make: async () => {
      const entries = files(defaultArchiveLimits.maxEntries / 10, Buffer.alloc(0));
      const patterns = Array.from({ length: maxPatterns }, (_, at) => `x${at}/**/*a*b*c`).join("\n");
      return () => archiveTree(entries, patterns, signal).catch(messageOf);
    },
  },
];
