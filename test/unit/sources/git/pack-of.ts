import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import type { GitObjectType } from "../../../../lib/sources/git/git-object.ts";

/** An entry of a pack: an object, or a delta for an entry before it or for an object by its id. */
export type PackEntry =
  | { readonly type: GitObjectType; readonly bytes: Uint8Array }
  | { readonly base: number; readonly delta: Uint8Array }
  | { readonly baseOid: string; readonly delta: Uint8Array };

const numbers: Readonly<Record<GitObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 };

/** A pack as git writes it. `damage` sees all bytes but the trailer, `claimed` stands in the header. */
export function packOf(
  entries: readonly PackEntry[],
  { damage = (bytes: Buffer) => bytes, claimed = entries.length } = {},
): Buffer {
  const header = Buffer.alloc(12);
  header.write("PACK", "latin1");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(claimed, 8);
  const pieces: Buffer[] = [header];
  const offsets: number[] = [];
  let at = header.length;
  for (const entry of entries) {
    offsets.push(at);
    const bytes = packedEntry(entry, at, offsets);
    pieces.push(bytes);
    at += bytes.length;
  }
  const body = damage(Buffer.concat(pieces));
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

function packedEntry(entry: PackEntry, at: number, offsets: readonly number[]): Buffer {
  const data = "bytes" in entry ? entry.bytes : entry.delta;
  const packed = deflateSync(data);
  if ("bytes" in entry) return Buffer.concat([entryHead(numbers[entry.type], data.length), packed]);
  if ("baseOid" in entry) return Buffer.concat([entryHead(7, data.length), Buffer.from(entry.baseOid, "hex"), packed]);
  return Buffer.concat([entryHead(6, data.length), distance(at - (offsets[entry.base] ?? -1)), packed]);
}

export function entryHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest % 128);
  }
  return Buffer.from(bytes);
}

function distance(value: number): Buffer {
  const bytes = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift(0x80 | (--rest & 0x7f));
  return Buffer.from(bytes);
}

export function oidOf(type: GitObjectType, bytes: Uint8Array): string {
  return createHash("sha1").update(`${type} ${bytes.length}\0`).update(bytes).digest("hex");
}

/** One instruction of a delta. */
export type DeltaStep = { readonly from: number; readonly length: number } | { readonly insert: Uint8Array };

/** A delta with these lengths in its head, true or not. */
export function deltaOf(baseBytes: number, resultBytes: number, steps: readonly DeltaStep[]): Buffer {
  return Buffer.concat([varint(baseBytes), varint(resultBytes), ...steps.map(instruction)]);
}

function instruction(step: DeltaStep): Buffer {
  if ("insert" in step) return Buffer.concat([Buffer.from([step.insert.length]), step.insert]);
  const args: number[] = [];
  let head = 0x80;
  for (let bit = 0; bit < 7; bit++) {
    const byte = Math.floor((bit < 4 ? step.from / 256 ** bit : step.length / 256 ** (bit - 4)) % 256);
    if (byte === 0) continue;
    head |= 1 << bit;
    args.push(byte);
  }
  return Buffer.from([head, ...args]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** In pieces of this many bytes, as a server may send them. */
export async function* inPieces(bytes: Uint8Array, length = 65_536): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}
