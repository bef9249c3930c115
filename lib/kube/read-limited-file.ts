import { createReadStream } from "node:fs";

/** The text of a file, which may be no file but a device without end. Throws a `RangeError` where there are more bytes. */
export async function readLimitedFile(path: string, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const stream: AsyncIterable<Uint8Array> = createReadStream(path);
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RangeError(`it is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
