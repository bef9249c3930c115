import { type ByteBoundedCache, byteBoundedCache } from "../../core/byte-bounded-cache.ts";
import type { TimeSlices } from "../../core/concurrency.ts";
import { applyDelta, readDeltaHeader } from "./delta.ts";
import { GitFault } from "./git-fault.ts";
import type { GitLimits } from "./git-remote.ts";
import {
  type EntryHeader,
  type Inflated,
  inflateAtOnce,
  inflateInPieces,
  maxAtOnceBytes,
  packedBound,
  readEntryHeader,
} from "./pack-entry.ts";
import { damagedPack, type PackFile } from "./pack-file.ts";

export type PackLimits = Pick<GitLimits, "maxDeltaDepth" | "maxObjectBytes" | "maxUnpackedBytes">;

/** Packed bytes of an entry beyond four times what zlib makes of its size: more is there only to cost memory. */
export const maxSpareBytes = 64 * 1024;

/** What unpacking costs at least, in bytes that it might have made meanwhile: so an object that is made of many counts. */
const minCountedBytes = 512;

export const cachedObjectBytes = 48 * 1024 * 1024;
/** A view of much more memory than its own keeps all of it. */
const maxSharedBytes = 1_024;

/** Unpacked objects that others are made of, by their positions: the most recently used ones. */
export function objectCache(): ByteBoundedCache<number, Buffer> {
  return byteBoundedCache(cachedObjectBytes, ({ length }) => length);
}

/** The same bytes in memory of their own: small ones share some with others, which would be kept with them. */
export function unshared(bytes: Buffer): Buffer {
  return bytes.buffer.byteLength - bytes.length > maxSharedBytes ? Buffer.from(new Uint8Array(bytes).buffer) : bytes;
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
  entryAt(from: number, slices: TimeSlices): Promise<UnpackedEntry>;
  combine(base: Buffer, delta: Buffer, slices: TimeSlices): Promise<Buffer>;
}

export function unpacker(pack: PackFile, { maxObjectBytes, maxUnpackedBytes }: PackLimits): Unpacker {
  let unpacked = 0;
  /** Before the bytes are made. */
  const count = (bytes: number): void => {
    if (bytes > maxObjectBytes) {
      throw new GitFault("too-large", `the repository has an object of more than ${maxObjectBytes} bytes`);
    }
    unpacked += Math.max(bytes, minCountedBytes);
    if (unpacked > maxUnpackedBytes) {
      throw new GitFault("too-large", `the pack of the git server unpacks to more than ${maxUnpackedBytes} bytes`);
    }
  };

  /** As far as the bound, and further until the stream ends. */
  const inflateSmall = (at: number, size: number, mostBytes: number): Inflated | undefined => {
    for (let bound = packedBound(size); ; bound = Math.min(bound * 4, mostBytes)) {
      const found = inflateAtOnce(pack.read(at, bound), size);
      if (found !== undefined || at + bound >= pack.bytes || bound === mostBytes) return found;
    }
  };

  return {
    async entryAt(from, slices) {
      const header = readEntryHeader(pack, from);
      const { size } = header;
      const dataAt = from + header.dataAt;
      count(size);
      const most = 4 * packedBound(size) + maxSpareBytes;
      const found =
        size <= maxAtOnceBytes
          ? inflateSmall(dataAt, size, most)
          : await inflateInPieces(pack.pieces(dataAt, most), size, slices);
      if (found !== undefined) return { header, bytes: found.bytes, end: dataAt + found.packedBytes };
      if (dataAt + most >= pack.bytes) throw damagedPack("it ends within an entry");
      throw damagedPack("an entry is packed into many times its bytes");
    },
    combine(base, delta, slices) {
      count(readDeltaHeader(delta).resultBytes);
      return applyDelta(base, delta, slices);
    },
  };
}
