import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Far above the longest text; what unpacks to more was not written by us. */
export const maxUnpackedBytes = 64 * 1024 * 1024;

/** A text in about a third of its bytes: ids and digests repeat much, and units are paid by the kilobyte. */
export function pack(text: string): Uint8Array {
  return deflateRawSync(text);
}

export function unpack(bytes: Uint8Array): string {
  return inflateRawSync(bytes, { maxOutputLength: maxUnpackedBytes }).toString("utf8");
}
