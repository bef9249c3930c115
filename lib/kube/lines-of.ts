/** The lines of a stream of UTF-8, without their ends. Throws a `RangeError` for a line of more than `maxBytes`. */
export async function* linesOf(stream: AsyncIterable<unknown>, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const flush = (): string => {
    const line = Buffer.concat(parts, bytes).toString("utf8");
    parts = [];
    bytes = 0;
    return line;
  };
  const keep = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
    parts.push(part);
  };
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError("a stream without encoding gives bytes");
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      keep(chunk.subarray(start, end));
      yield flush();
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (bytes > 0) yield flush();
}
