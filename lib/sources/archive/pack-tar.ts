import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { inWalkOrder } from "./walk-order.ts";

/** One file or folder of an archive, not the root. Paths are relative, with `/` between names and without `./`. */
export type TreeEntry =
  | { readonly type: "directory"; readonly path: string; readonly mode: number }
  | { readonly type: "file"; readonly path: string; readonly mode: number; readonly bytes: Uint8Array };

const blockBytes = 512;
const typeFlags = { file: "0", directory: "5", pax: "x" } as const;

/**
 * A tar of a tree, as Flux writes it: first the root, named `.`, then the entries in walk order, without owner and time, folders
 * without a slash at the end. The same tree gives the same bytes. The tar comes in pieces, so that a large tree is not held in
 * memory twice.
 */
export function* packTar(entries: readonly TreeEntry[], rootMode: number): Generator<Uint8Array, void, undefined> {
  yield packRoot(rootMode);
  for (const entry of inWalkOrder(entries)) yield* packEntry(entry);
  yield packEnd();
}

/** The first member of a tar. */
export function packRoot(mode: number): Uint8Array {
  return header(".", mode, 0, "directory");
}

/** What follows the last member. */
export function packEnd(): Uint8Array {
  return Buffer.alloc(2 * blockBytes);
}

/** One member of a tar, for code that writes a tar piece by piece. */
export function* packEntry(entry: TreeEntry): Generator<Uint8Array, void, undefined> {
  const bytes = entry.type === "file" ? entry.bytes : new Uint8Array();
  if (!fitsUstar(entry.path)) {
    const record = paxRecord("path", entry.path);
    yield header(paxName(entry.path), 0, record.length, "pax");
    yield* padded(record);
  }
  yield header(entry.path, entry.mode, bytes.length, entry.type);
  yield* padded(bytes);
}

function header(path: string, mode: number, size: number, type: keyof typeof typeFlags): Buffer {
  const block = Buffer.alloc(blockBytes);
  const { name, prefix } = splitUstar(path) ?? { name: ascii(path).slice(0, 100), prefix: "" };
  block.write(name, 0, 100, "latin1");
  block.write(octal(mode, 7), 100, "latin1");
  block.write(octal(0, 7), 108, "latin1");
  block.write(octal(0, 7), 116, "latin1");
  block.write(octal(size, 11), 124, "latin1");
  block.write(octal(0, 11), 136, "latin1");
  block.write("        ", 148, "latin1");
  block.write(typeFlags[type], 156, "latin1");
  block.write("ustar\u000000", 257, "latin1");
  block.write(octal(0, 7), 329, "latin1");
  block.write(octal(0, 7), 337, "latin1");
  block.write(prefix, 345, 155, "latin1");
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)}\u0000 `, 148, "latin1");
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function padded(bytes: Uint8Array): Uint8Array[] {
  const rest = bytes.length % blockBytes;
  return rest === 0 ? [bytes] : [bytes, Buffer.alloc(blockBytes - rest)];
}

function fitsUstar(path: string): boolean {
  return path === ascii(path) && splitUstar(path) !== undefined;
}

/** A path as the two name fields of a ustar header; undefined if it does not fit. */
function splitUstar(path: string): { name: string; prefix: string } | undefined {
  if (path !== ascii(path)) return undefined;
  if (path.length <= 100) return { name: path, prefix: "" };
  if (path.length > 256) return undefined;
  const slash = path.lastIndexOf("/", 155);
  const name = path.slice(slash + 1);
  if (slash <= 0 || name.length > 100 || name === "") return undefined;
  return { name, prefix: path.slice(0, slash) };
}

/** A pax record. It begins with its length, which includes the digits of the length itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return Buffer.from(`${length}${rest}`);
}

function paxName(path: string): string {
  const slash = path.lastIndexOf("/");
  return `${path.slice(0, slash + 1)}PaxHeaders.0/${path.slice(slash + 1)}`;
}

function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "");
}

const systemByte = 9;
const unknownSystem = 255;
const chunkBytes = 64 * 1024;

/**
 * Gzip without name and time and with an unknown operating system, so that the same input gives the same output. Throws a `RangeError`
 * as soon as it has more than `maxBytes`.
 */
export async function gzip(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  const limited = (packed: AsyncIterable<Uint8Array>) => buffer(Readable.from(atMost(maxBytes, packed)));
  // A pipeline also fails with the error of the source of the pieces.
  const packed = await pipeline(chunks(pieces), createGzip({ level: 6 }), limited);
  packed[systemByte] = unknownSystem;
  return packed;
}

async function* atMost(
  maxBytes: number,
  chunksOf: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of chunksOf) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RangeError(`it has more than ${maxBytes} bytes when it is packed`);
    yield chunk;
  }
}

/** Joins small pieces and splits large ones: zlib hands each chunk to a thread, which costs as much as packing 64 KiB. */
async function* chunks(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
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
