import { type IndexPiece, NotInPieces } from "./index-pieces.ts";

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
const batchBytes = 32 * 1024;

/**
 * The parts of an index in JSON. Each is JSON if the whole is, and the whole is JSON if all of them are. Throws {@link NotInPieces} for
 * what is not JSON. Takes no memory of its own.
 */
export function* jsonPieces(bytes: Buffer): Generator<IndexPiece> {
  const cursor = new JsonBytes(bytes);
  for (const [name, from, to] of cursor.fields(0, bytes.length)) {
    const isEntries = bytes.toString("utf8", name.from, name.to) === '"entries"';
    if (!isEntries || bytes[from] !== openObject) {
      yield { kind: "field", text: `{${cursor.text(name.from, name.to)}:${cursor.text(from, to)}}` };
      continue;
    }
    for (const [chart, begin, end] of cursor.fields(from, to)) {
      const key = cursor.text(chart.from, chart.to);
      if (bytes[begin] !== openList) {
        yield { kind: "chart", text: `{${key}:${cursor.text(begin, end)}}` };
        continue;
      }
      yield { kind: "chart", text: `{${key}:[]}` };
      let batch: { from: number; to: number } | undefined;
      for (const [first, last] of cursor.items(begin, end)) {
        batch = { from: batch?.from ?? first, to: last };
        if (last - batch.from < batchBytes) continue;
        yield { kind: "versions", text: `[${cursor.text(batch.from, batch.to)}]` };
        batch = undefined;
      }
      if (batch !== undefined) {
        yield { kind: "versions", text: `[${cursor.text(batch.from, batch.to)}]` };
      }
    }
  }
}

/** Whether the bytes begin as a JSON object does. */
export function looksLikeJson(bytes: Buffer): boolean {
  return bytes[new JsonBytes(bytes).skipSpace(0)] === openObject;
}

type Field = readonly [name: { readonly from: number; readonly to: number }, from: number, to: number];

/** Finds values of a JSON text in its bytes. What it finds may still be invalid: `JSON.parse` tells. */
class JsonBytes {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  text(from: number, to: number): string {
    return this.#bytes.toString("utf8", from, to);
  }

  /** The fields of the object that is all of this range. */
  *fields(from: number, to: number): Generator<Field> {
    for (const [begin, end] of this.#parts(from, to, openObject, closeObject)) {
      if (this.#bytes[begin] !== quote) throw new NotInPieces("a field without a name");
      const nameEnd = this.#endOfString(begin);
      const at = this.skipSpace(nameEnd);
      const value = this.skipSpace(at + 1);
      if (this.#bytes[at] !== colon || value >= end) throw new NotInPieces("a field without a value");
      if (this.#endOfValue(value) !== end) throw new NotInPieces("two values in a row");
      yield [{ from: begin, to: nameEnd }, value, end];
    }
  }

  /** The items of the list that is all of this range. */
  *items(from: number, to: number): Generator<readonly [from: number, to: number]> {
    yield* this.#parts(from, to, openList, closeList);
  }

  skipSpace(from: number): number {
    let at = from;
    for (;;) {
      const byte = this.#bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
      at++;
    }
  }

  /** What stands between commas. */
  *#parts(from: number, to: number, open: number, close: number): Generator<readonly [from: number, to: number]> {
    let at = this.skipSpace(from);
    if (this.#bytes[at] !== open) throw new NotInPieces("another value");
    at = this.skipSpace(at + 1);
    if (this.#bytes[at] === close) {
      if (this.skipSpace(at + 1) < to) throw new NotInPieces("something behind the end");
      return;
    }
    for (;;) {
      const begin = at;
      let end = this.#endOfValue(begin);
      let next = this.skipSpace(end);
      if (this.#bytes[next] === colon) {
        end = this.#endOfValue(this.skipSpace(next + 1));
        next = this.skipSpace(end);
      }
      if (end <= begin || end > to) throw new NotInPieces("a value without an end");
      yield [begin, end];
      if (this.#bytes[next] === close) {
        if (this.skipSpace(next + 1) < to) throw new NotInPieces("something behind the end");
        return;
      }
      if (this.#bytes[next] !== comma) throw new NotInPieces("no comma between two values");
      at = this.skipSpace(next + 1);
    }
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
