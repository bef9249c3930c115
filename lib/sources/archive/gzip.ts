import { promisify } from "node:util";
import { gzip as gzipCallback } from "node:zlib";

const gzipAsync = promisify(gzipCallback);
const systemByte = 9;
const unknownSystem = 255;

/** Gzip without a name and a time, and with the operating system left open, so that the same bytes give the same bytes. */
export async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = await gzipAsync(bytes, { level: 6 });
  packed[systemByte] = unknownSystem;
  return packed;
}
