/** Takes a stream apart into pieces of known length. */
export interface ByteReader {
  /** Whether no byte is left; waits for the stream where that is not known yet. */
  hasEnded(): Promise<boolean>;
  /** Exactly so many bytes, or undefined where the stream ends before. */
  read(length: number): Promise<Uint8Array | undefined>;
  /** Passes over so many bytes without keeping them; false where the stream ends before. */
  skip(length: number): Promise<boolean>;
}

export function byteReader(chunks: AsyncIterable<Uint8Array>): ByteReader {
  const source = chunks[Symbol.asyncIterator]();
  let chunk: Uint8Array = new Uint8Array();
  const fill = async (): Promise<boolean> => {
    while (chunk.length === 0) {
      const next = await source.next();
      if (next.done === true) return false;
      chunk = next.value;
    }
    return true;
  };
  const take = (length: number): Uint8Array => {
    const piece = chunk.subarray(0, length);
    chunk = chunk.subarray(length);
    return piece;
  };
  return {
    hasEnded: async () => !(await fill()),
    async read(length) {
      if (chunk.length >= length) return take(length);
      const pieces: Uint8Array[] = [];
      for (let missing = length; missing > 0; ) {
        if (!(await fill())) return undefined;
        const piece = take(missing);
        pieces.push(piece);
        missing -= piece.length;
      }
      return Buffer.concat(pieces, length);
    },
    async skip(length) {
      for (let missing = length; missing > 0; ) {
        if (!(await fill())) return false;
        missing -= take(missing).length;
      }
      return true;
    },
  };
}
