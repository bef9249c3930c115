import { finished } from "node:stream/promises";
import { createInflate, inflateSync } from "node:zlib";
import type { TimeSlices } from "../../core/concurrency.ts";
import type { GitFault } from "./git-fault.ts";
import type { GitObjectType } from "./git-object.ts";
import { damagedPack, type PackFile } from "./pack-file.ts";

/** The types of entries by their numbers in a pack (gitformat-pack). */
export const entryTypes = { commit: 1, tree: 2, blob: 3, tag: 4, offsetDelta: 6, refDelta: 7 } as const;
export const typeNames: Readonly<Record<number, GitObjectType>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };

const oidBytes = 20;
/** Type and length, and an offset or an id. */
const maxHeaderBytes = 32;

export interface EntryHeader {
  readonly type: number;
  /** Unpacked: of the object, or of the delta. */
  readonly size: number;
  /** The position of the packed bytes, counted from the beginning of the entry. */
  readonly dataAt: number;
  /** For a delta by offset: how far before this entry its base begins. */
  readonly baseDistance?: number;
  /** For a delta by id: the id of its base. */
  readonly baseOid?: Buffer;
}

export function readEntryHeader(pack: PackFile, from: number): EntryHeader {
  const bytes = pack.read(from, maxHeaderBytes);
  let at = 0;
  const byte = (): number => {
    const value = bytes[at++];
    if (value === undefined) throw damagedPack("it ends within an entry");
    return value;
  };
  const first = byte();
  const type = (first >> 4) & 7;
  let size = first & 0x0f;
  for (let last = first, scale = 16; (last & 0x80) !== 0; scale *= 128) {
    if (scale > 2 ** 42) throw damagedPack("the length of an entry has no end");
    last = byte();
    size += (last & 0x7f) * scale;
  }
  if (typeNames[type] !== undefined) return { type, size, dataAt: at };
  if (type === entryTypes.refDelta) {
    if (bytes.length < at + oidBytes) throw damagedPack("it ends within an entry");
    return { type, size, dataAt: at + oidBytes, baseOid: bytes.subarray(at, at + oidBytes) };
  }
  if (type !== entryTypes.offsetDelta) throw damagedPack(`an entry has the unknown type ${type}`);
  let last = byte();
  let baseDistance = last & 0x7f;
  while ((last & 0x80) !== 0) {
    last = byte();
    baseDistance = (baseDistance + 1) * 128 + (last & 0x7f);
    if (baseDistance > 2 ** 45) throw damagedPack("the offset of a delta has no end");
  }
  return { type, size, dataAt: at, baseDistance };
}

/** What zlib gives with its option `info`. */
interface SyncResult {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

function isSyncResult(value: unknown): value is SyncResult {
  return typeof value === "object" && value !== null && "engine" in value && "buffer" in value;
}

const minChunkBytes = 64;
const maxChunkBytes = 1024 * 1024;
/** How many bytes are unpacked at once, which takes a few milliseconds. */
export const maxAtOnceBytes = maxChunkBytes;

export interface Inflated {
  readonly bytes: Buffer;
  readonly packedBytes: number;
}

/**
 * Unpacks the zlib stream at the beginning of these bytes, which must give `size` bytes: at most {@link maxAtOnceBytes}.
 *
 * @returns undefined if the stream does not end within them
 */
export function inflateAtOnce(packed: Uint8Array, size: number): Inflated | undefined {
  // One piece if it is small, with one spare byte, so that zlib knows at once that it has everything.
  const chunkSize = Math.min(Math.max(size + 1, minChunkBytes), maxChunkBytes);
  let inflated: unknown;
  try {
    inflated = inflateSync(packed, { info: true, chunkSize, maxOutputLength: Math.max(size, 1) });
  } catch (error) {
    if (codeOf(error) === "Z_BUF_ERROR") return undefined;
    throw wrongStream();
  }
  if (!isSyncResult(inflated) || inflated.buffer.length !== size) throw wrongStream();
  return { bytes: inflated.buffer, packedBytes: inflated.engine.bytesWritten };
}

/**
 * Unpacks the zlib stream at the beginning of these pieces in the thread pool.
 *
 * @returns undefined if the stream does not end within them
 */
export async function inflateInPieces(
  packed: AsyncIterable<Uint8Array>,
  size: number,
  slices: TimeSlices,
): Promise<Inflated | undefined> {
  const stream = createInflate({ chunkSize: maxChunkBytes });
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  stream.on("data", (piece: Buffer) => {
    if (length + piece.length > size) return void stream.destroy(wrongStream());
    bytes.set(piece, length);
    length += piece.length;
  });
  const ended = finished(stream, { writable: false });
  const feed = async (): Promise<void> => {
    for await (const piece of packed) {
      await new Promise<void>((resolve) => stream.write(piece, () => resolve()));
      if (stream.readableEnded || stream.destroyed) return;
      if (slices.isOver()) await slices.pause();
    }
    stream.end();
  };
  try {
    await Promise.all([feed(), ended]);
  } catch (error) {
    const code = codeOf(error);
    if (code === "Z_BUF_ERROR") return undefined;
    throw code?.startsWith("Z_") === true ? wrongStream() : error;
  } finally {
    stream.destroy();
    await ended.catch(() => undefined);
  }
  if (length !== size) throw wrongStream();
  return { bytes, packedBytes: stream.bytesWritten };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

function wrongStream(): GitFault {
  return damagedPack("an entry is not a zlib stream of the length that it says");
}

/** As many packed bytes as an object of this size can take, of any zlib that does not waste them on purpose. */
export function packedBound(size: number): number {
  return size + (size >> 3) + (size >> 6) + minChunkBytes;
}
