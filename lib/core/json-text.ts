/** Lists, objects and commas that one JSON text may have: far more than an object of Kubernetes has. Each takes far more memory than its text. */
export const maxJsonParts = 200_000;
/** As in Go's decoder, and so in every API server. */
export const maxJsonDepth = 10_000;

/** A larger text is checked before it is parsed. */
export const checkedChars = 256 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Walks the brackets and commas of a JSON text that are outside of strings, in linear time and without memory of its own. The text
 * need not be valid.
 */
export class JsonCursor {
  readonly #text: string;
  #at: number;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#at = -1;
  }

  get at(): number {
    return this.#at;
  }

  /** The number of lists and objects that are open after the bracket or comma. */
  get depth(): number {
    return this.#depth;
  }

  /** Moves to the next bracket or comma. Answers its character code, or -1 at the end of the text. */
  next(): number {
    const text = this.#text;
    for (let at = this.#at + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      switch (code) {
        case quote:
          at = endOfString(text, at);
          break;
        case openList:
        case openObject:
          this.#depth++;
          this.#at = at;
          return code;
        case closeList:
        case closeObject:
          this.#depth--;
          this.#at = at;
          return code;
        case comma:
          this.#at = at;
          return code;
      }
    }
    this.#at = text.length;
    return -1;
  }
}

/** Where the string ends that begins here: at its closing quote, or at the end of the text. */
export function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** Which limit a text exceeds: its lists, objects and commas, or its levels. Linear, and far cheaper than to parse it. */
export function jsonExcess(
  text: string,
  { maxParts, maxDepth }: { readonly maxParts: number; readonly maxDepth: number },
): "depth" | "parts" | undefined {
  const cursor = new JsonCursor(text);
  let parts = 0;
  for (let code = cursor.next(); code !== -1; code = cursor.next()) {
    if (code === closeList || code === closeObject) continue;
    if (cursor.depth > maxDepth) return "depth";
    if (++parts > maxParts) return "parts";
  }
  return undefined;
}

/**
 * Throws a `RangeError` for a text that nests deeper than {@link maxJsonDepth}, or that has more than {@link maxJsonParts}: parsing it
 * would block the process. A text of less than 256 KiB always passes.
 */
export function checkJson(text: string): void {
  if (text.length <= checkedChars) return;
  switch (jsonExcess(text, { maxParts: maxJsonParts, maxDepth: maxJsonDepth })) {
    case "depth":
      throw new RangeError(`it nests deeper than ${maxJsonDepth} levels`);
    case "parts":
      throw new RangeError(`it has more than ${maxJsonParts} lists, objects and commas`);
    case undefined:
  }
}

/** The approximate memory of a list, an object or an entry, in addition to its text. */
const bytesOfPart = 48;

/** About the bytes that the value of a JSON text takes in memory: short values take many times their text. Takes time in proportion to the text. */
export function bytesInMemory(text: string): number {
  const cursor = new JsonCursor(text);
  let bytes = text.length;
  for (let code = cursor.next(); code !== -1; code = cursor.next()) {
    if (code !== closeList && code !== closeObject) bytes += bytesOfPart;
  }
  return bytes;
}
