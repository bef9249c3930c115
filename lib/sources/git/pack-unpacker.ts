import { applyDelta, readDeltaHeader } from "./delta.ts";
import { GitFault } from "./git-fault.ts";
import type { GitLimits } from "./git-remote.ts";
import { type EntryHeader, inflate, packedBound, readEntryHeader } from "./pack-entry.ts";
import { damagedPack, type PackFile } from "./pack-file.ts";

export type PackLimits = Pick<GitLimits, "maxDeltaDepth" | "maxObjectBytes" | "maxUnpackedBytes">;

/** Unpacked objects that others are made of, the most recently used ones. */
export interface ObjectCache {
  get(position: number): Buffer | undefined;
  put(position: number, bytes: Buffer): void;
}

/** Packed bytes of an entry beyond four times what zlib makes of its size: more is there only to cost memory. */
export const maxSpareBytes = 64 * 1024;

const maxCachedBytes = 48 * 1024 * 1024;

export function objectCache(): ObjectCache {
  const cached = new Map<number, Buffer>();
  let held = 0;
  return {
    get(position) {
      const bytes = cached.get(position);
      if (bytes === undefined) return undefined;
      // To the end: the first ones are dropped first.
      cached.delete(position);
      cached.set(position, bytes);
      return bytes;
    },
    put(position, bytes) {
      if (cached.has(position) || bytes.length > maxCachedBytes) return;
      cached.set(position, bytes);
      held += bytes.length;
      for (const [oldest, { length }] of cached) {
        if (held <= maxCachedBytes) break;
        cached.delete(oldest);
        held -= length;
      }
    },
  };
}

/** One entry, unpacked: an object, or a delta. */
export interface UnpackedEntry {
  readonly header: EntryHeader;
  readonly bytes: Buffer;
  /** Where the next entry begins. */
  readonly end: number;
}

/** Unpacks the entries of a pack, and counts what it unpacks. Throws a {@link GitFault} `protocol` or `too-large`. */
export interface Unpacker {
  entryAt(from: number): UnpackedEntry;
  combine(base: Buffer, delta: Buffer): Buffer;
}

export function unpacker(pack: PackFile, { maxObjectBytes, maxUnpackedBytes }: PackLimits): Unpacker {
  let unpacked = 0;
  /** Before the bytes are made. */
  const count = (bytes: number): void => {
    if (bytes > maxObjectBytes) {
      throw new GitFault("too-large", `the repository has an object of more than ${maxObjectBytes} bytes`);
    }
    unpacked += bytes;
    if (unpacked > maxUnpackedBytes) {
      throw new GitFault("too-large", `the pack of the git server unpacks to more than ${maxUnpackedBytes} bytes`);
    }
  };

  return {
    entryAt(from) {
      const header = readEntryHeader(pack, from);
      const dataAt = from + header.dataAt;
      count(header.size);
      const most = 4 * packedBound(header.size) + maxSpareBytes;
      for (let bound = packedBound(header.size); ; bound = Math.min(bound * 4, most)) {
        const found = inflate(pack.read(dataAt, bound), header.size);
        if (found !== undefined) return { header, bytes: found.bytes, end: dataAt + found.packedBytes };
        if (dataAt + bound >= pack.bytes) throw damagedPack("it ends within an entry");
        if (bound === most) throw damagedPack("an entry is packed into many times its bytes");
      }
    },
    combine(base, delta) {
      count(readDeltaHeader(delta).resultBytes);
      return applyDelta(base, delta);
    },
  };
}
