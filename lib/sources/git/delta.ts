import type { TimeSlices } from "../../core/concurrency.ts";
import { damagedPack } from "./pack-file.ts";

/** The lengths that a delta begins with. */
export interface DeltaHeader {
  readonly baseBytes: number;
  readonly resultBytes: number;
  /** Where its instructions begin. */
  readonly at: number;
}

export function readDeltaHeader(delta: Uint8Array): DeltaHeader {
  const base = readVarint(delta, 0);
  const result = readVarint(delta, base.at);
  return { baseBytes: base.value, resultBytes: result.value, at: result.at };
}

/** Instructions between two looks at the time: some milliseconds of the longest ones. */
const instructionsAtOnce = 1_024;
/** A shorter piece is copied byte by byte, which takes less than a view of it. */
const minViewBytes = 32;

/**
 * Makes an object from another and the difference to it (gitformat-pack, "deltified representation"). The caller has checked
 * that `resultBytes` is not too large. Throws a `GitFault` `protocol` for a delta that does not fit.
 */
export async function applyDelta(base: Uint8Array, delta: Uint8Array, slices: TimeSlices): Promise<Buffer> {
  const { baseBytes, resultBytes, at: begin } = readDeltaHeader(delta);
  if (baseBytes !== base.length) throw damagedPack("a delta is for an object of another length");
  const result = Buffer.allocUnsafe(resultBytes);
  let written = 0;
  let at = begin;
  const byte = (): number => {
    const value = delta[at++];
    if (value === undefined) throw damagedPack("a delta ends within an instruction");
    return value;
  };
  for (let count = 1; at < delta.length; count++) {
    const instruction = byte();
    if (instruction === 0) throw damagedPack("a delta has an unknown instruction");
    const isCopy = (instruction & 0x80) !== 0;
    let source = delta;
    let from = at;
    let length = instruction;
    if (isCopy) {
      source = base;
      from = 0;
      length = 0;
      for (let bit = 0; bit < 4; bit++) if ((instruction & (1 << bit)) !== 0) from += byte() * 2 ** (8 * bit);
      for (let bit = 0; bit < 3; bit++) if ((instruction & (0x10 << bit)) !== 0) length += byte() * 2 ** (8 * bit);
      if (length === 0) length = 0x10000;
    } else {
      at += length;
    }
    if (from + length > source.length || written + length > resultBytes) {
      throw damagedPack("a delta reaches beyond an object");
    }
    if (length < minViewBytes)
      for (let index = 0; index < length; index++) result[written + index] = source[from + index] ?? 0;
    else result.set(source.subarray(from, from + length), written);
    written += length;
    if (count % instructionsAtOnce === 0 && slices.isOver()) await slices.pause();
  }
  if (written !== resultBytes) throw damagedPack("a delta makes an object of another length than it says");
  return result;
}

/** Seven bits a byte, the lowest first; the highest bit of a byte says that another follows. */
function readVarint(bytes: Uint8Array, from: number): { readonly value: number; readonly at: number } {
  let value = 0;
  let at = from;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++];
    if (byte === undefined || scale > 2 ** 42) throw damagedPack("a length in it has no end");
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, at };
  }
}
