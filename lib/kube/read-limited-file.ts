import { createReadStream } from "node:fs";

/** The text of a file. Throws a `RangeError` above `maxBytes`, also for an endless device. The command line needs it without the rest. */
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
