import { batchBytes, type IndexPiece, NotInPieces } from "./index-pieces.ts";

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The parts of an index in JSON. Each is JSON if the whole is, and the whole is JSON if all of them are. Throws {@link NotInPieces} for
 * what is not JSON. Takes no memory of its own.
 */
export function* jsonPieces(bytes: Buffer): Generator<IndexPiece> {
  const cursor = new JsonBytes(bytes);
  for (const _ of cursor.members(openObject, closeObject)) {
    const name = cursor.name();
    if (name === '"entries"' && cursor.next() === openObject) yield* chartPieces(cursor);
    else yield { kind: "field", text: `{${name}:${cursor.value()}}` };
  }
  cursor.end();
}

function* chartPieces(cursor: JsonBytes): Generator<IndexPiece> {
  for (const _ of cursor.members(openObject, closeObject)) {
    const chart = cursor.name();
    if (cursor.next() !== openList) {
      yield { kind: "chart", text: `{${chart}:${cursor.value()}}` };
      continue;
    }
    yield { kind: "chart", text: `{${chart}:[]}` };
    let batch: string[] = [];
    let bytes = 0;
    for (const _item of cursor.members(openList, closeList)) {
      const item = cursor.value();
      batch.push(item);
      bytes += item.length;
      if (bytes < batchBytes) continue;
      yield { kind: "versions", text: `[${batch.join(",")}]` };
      [batch, bytes] = [[], 0];
    }
    if (batch.length > 0) yield { kind: "versions", text: `[${batch.join(",")}]` };
  }
}

/** Whether the bytes begin as a JSON object does. */
export function looksLikeJson(bytes: Buffer): boolean {
  return new JsonBytes(bytes).next() === openObject;
}

/** A cursor over the values of a JSON text in bytes. What it takes for a value may still be invalid: `JSON.parse` tells. */
class JsonBytes {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The next byte that is not white space; 0 at the end. */
  next(): number {
    for (;;) {
      const byte = this.#bytes[this.#at] ?? 0;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      this.#at++;
    }
  }

  /** Goes from member to member of the list or object that begins here. The caller that gets one moves the cursor behind it. */
  *members(open: number, close: number): Generator<undefined> {
    this.#take(open);
    if (this.next() === close) {
      this.#take(close);
      return;
    }
    for (;;) {
      yield;
      if (this.next() === close) {
        this.#take(close);
        return;
      }
      this.#take(comma);
    }
  }

  /** The name of a field in quotes, with the colon behind it. */
  name(): string {
    if (this.next() !== quote) throw new NotInPieces("a field without a name");
    const text = this.value();
    this.#take(colon);
    return text;
  }

  /** The text of the next value. */
  value(): string {
    this.next();
    const begin = this.#at;
    this.#at = this.#endOfValue(begin);
    if (this.#at === begin) throw new NotInPieces("no value");
    return this.#bytes.toString("utf8", begin, this.#at);
  }

  /** Throws unless only white space is left. */
  end(): void {
    this.next();
    if (this.#at < this.#bytes.length) throw new NotInPieces("something behind the end");
  }

  #take(byte: number): void {
    if (this.next() !== byte) throw new NotInPieces(`no ${String.fromCharCode(byte)}`);
    this.#at++;
  }

  #endOfString(begin: number): number {
    for (let end = this.#bytes.indexOf(quote, begin + 1); end !== -1; end = this.#bytes.indexOf(quote, end + 1)) {
      let before = end - 1;
      while (this.#bytes[before] === backslash) before--;
      if ((end - before) % 2 === 1) return end + 1;
    }
    throw new NotInPieces("a string without an end");
  }

  #endOfValue(begin: number): number {
    let depth = 0;
    for (let at = begin; at < this.#bytes.length; at++) {
      const byte = this.#bytes[at] ?? 0;
      switch (byte) {
        case quote:
          at = this.#endOfString(at) - 1;
          if (depth === 0) return at + 1;
          break;
        case openList:
        case openObject:
          depth++;
          break;
        case closeList:
        case closeObject:
          if (depth === 0) return at;
          if (--depth === 0) return at + 1;
          break;
        case comma:
        case colon:
        case 0x20:
        case 0x0a:
        case 0x0d:
        case 0x09:
          if (depth === 0) return at;
      }
    }
    return this.#bytes.length;
  }
}
