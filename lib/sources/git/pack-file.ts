import { createHash } from "node:crypto";
import { readSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GitFault } from "./git-fault.ts";
import type { GitLimits } from "./git-remote.ts";

/** A pack on disk: its length and trailer have been checked, what is in it has not. */
export interface PackFile extends AsyncDisposable {
  /** That its header names. */
  readonly objects: number;
  /** Without its trailer. */
  readonly bytes: number;
  /** So many bytes from here, fewer at the end. */
  read(from: number, length: number): Buffer;
  /** The same in pieces of at most 64 KiB, which are read in the thread pool. */
  pieces(from: number, length: number): AsyncGenerator<Buffer, void, undefined>;
}

export const packHeaderBytes = 12;
const trailerBytes = 20;
const pieceBytes = 64 * 1024;
/** The shortest entry: a byte for type and length, and an empty zlib stream. */
const minEntryBytes = 9;

export function damagedPack(why: string): GitFault {
  return new GitFault("protocol", `the pack of the git server is damaged: ${why}`);
}

/**
 * Writes a pack to a temporary file. The file has no name any more when the first byte is written, so nothing is left of it
 * however the process ends. Throws a {@link GitFault} `protocol` or `too-large`.
 */
export async function receivePack(
  pieces: AsyncIterable<Uint8Array>,
  { maxPackBytes, maxObjects }: Pick<GitLimits, "maxObjects" | "maxPackBytes">,
): Promise<PackFile> {
  const { handle, close } = await openUnnamed();
  try {
    const hash = createHash("sha1");
    let start = Buffer.alloc(0);
    let tail = Buffer.alloc(0);
    let bytes = 0;
    let objects: number | undefined;
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > maxPackBytes) {
        throw new GitFault("too-large", `the git server sends a pack of more than ${maxPackBytes} bytes`);
      }
      if (objects === undefined) {
        start = Buffer.concat([start, piece]);
        if (start.length >= packHeaderBytes) objects = objectsOf(start, maxObjects);
      }
      // The last bytes, which are the trailer, are held back from the hash.
      const held = Buffer.concat([tail, piece]);
      const split = Math.max(held.length - trailerBytes, 0);
      hash.update(held.subarray(0, split));
      tail = Buffer.from(held.subarray(split));
      await handle.appendFile(piece);
    }
    if (objects === undefined || bytes < packHeaderBytes + trailerBytes) throw damagedPack("it broke off");
    if (!hash.digest().equals(tail)) throw damagedPack("its bytes do not have the checksum at its end");
    const length = bytes - trailerBytes;
    if (objects * minEntryBytes > length) throw damagedPack(`it is too short for ${objects} objects`);
    return {
      objects,
      bytes: length,
      read(from, wanted) {
        const buffer = Buffer.allocUnsafe(Math.max(Math.min(wanted, length - from), 0));
        // From the page cache, mostly: a round trip through the thread pool takes ten times as long.
        return buffer.subarray(0, readSync(handle.fd, buffer, 0, buffer.length, from));
      },
      async *pieces(from, wanted) {
        const end = Math.min(from + wanted, length);
        for (let at = from; at < end; ) {
          const { buffer, bytesRead } = await handle.read({
            buffer: Buffer.allocUnsafeSlow(Math.min(pieceBytes, end - at)),
            position: at,
          });
          if (bytesRead === 0) return;
          yield buffer.subarray(0, bytesRead);
          at += bytesRead;
        }
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") {
      throw new GitFault("too-large", "there is no room on the disk for the pack that the git server sends", {
        cause: error,
      });
    }
    throw error;
  }
}

async function openUnnamed() {
  const folder = await mkdtemp(join(tmpdir(), "sluice-git-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const handle = await open(join(folder, "pack"), "wx+", 0o600);
    try {
      await remove();
    } catch {
      // A system that does not remove an open file: it is removed once it is closed.
    }
    const close = async (): Promise<void> => {
      await handle.close();
      await remove();
    };
    return { handle, close };
  } catch (error) {
    await remove();
    throw error;
  }
}

function objectsOf(header: Buffer, maxObjects: number): number {
  const version = header.readUInt32BE(4);
  if (header.toString("latin1", 0, 4) !== "PACK" || (version !== 2 && version !== 3)) {
    throw damagedPack("it does not begin as a pack of version 2");
  }
  const objects = header.readUInt32BE(8);
  if (objects > maxObjects) throw new GitFault("too-large", `the pack has ${objects} objects, more than ${maxObjects}`);
  return objects;
}
