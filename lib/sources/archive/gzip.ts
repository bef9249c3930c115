import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGzip } from "node:zlib";

const systemByte = 9;
const unknownSystem = 255;
const chunkBytes = 64 * 1024;

/** Gzip without a name and a time, and with the operating system left open, so that the same bytes give the same bytes. */
export async function gzip(pieces: Iterable<Uint8Array>): Promise<Uint8Array> {
  const packed = await buffer(Readable.from(chunks(pieces)).pipe(createGzip({ level: 6 })));
  packed[systemByte] = unknownSystem;
  return packed;
}

/** Small pieces together and large ones apart: each goes to a thread of its own accord, which costs as much as 64 KiB do. */
function* chunks(pieces: Iterable<Uint8Array>): Generator<Uint8Array, void, undefined> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += chunkBytes) {
      const part = piece.subarray(at, at + chunkBytes);
      waiting.push(part);
      bytes += part.length;
      if (bytes < chunkBytes) continue;
      yield Buffer.concat(waiting, bytes);
      waiting = [];
      bytes = 0;
    }
  }
  yield Buffer.concat(waiting, bytes);
}
