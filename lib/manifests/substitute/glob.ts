import { type GlobChunk, type GlobElement, parseGlob } from "./glob-pattern.ts";
import { invalidRune, runeAt } from "./runes.ts";
import type { StepBudget } from "./step-budget.ts";

/** The longest value that a pattern is taken off, and the longest pattern. */
export const maxGlobbedBytes = 4_096;
export const maxGlobBytes = 256;

/**
 * The value without the shortest or longest beginning that matches; the value itself if none does or the pattern is malformed.
 *
 * @param budget for the comparisons
 * @throws OutOfSteps
 */
export function trimPrefix(
  value: string,
  pattern: string,
  which: "shortest" | "longest",
  budget: Pick<StepBudget, "spend">,
): string {
  const chunks = parseGlob(pattern);
  if (chunks === undefined) return value;
  const lengths = isComparedByBytes(value, chunks)
    ? matchingLengths(value, chunks, budget)
    : lengthsByCharacters(value, chunks, which, budget);
  const length = which === "shortest" ? lengths[0] : lengths.at(-1);
  return length === undefined ? value : value.slice(length);
}

/** Whether every element of the pattern takes one byte of the value. */
function isComparedByBytes(value: string, chunks: readonly GlobChunk[]): boolean {
  return /^\p{ASCII}*$/u.test(value) || chunks.every(({ elements }) => elements.every(({ kind }) => kind === "byte"));
}

const bitsOfWord = 32;

/**
 * The lengths, in ascending order, of all beginnings that match, found in one pass: bit k says whether the elements before the
 * k-th match what was read (Shift-And; Baeza-Yates and Gonnet, 1992).
 */
function matchingLengths(
  value: string,
  chunks: readonly GlobChunk[],
  budget: Pick<StepBudget, "spend">,
): readonly number[] {
  const elements = chunks.flatMap((chunk) => chunk.elements);
  const words = Math.ceil((elements.length + 1) / bitsOfWord);
  const stays = new Uint32Array(words);
  let begin = 0;
  for (const { star, elements: own } of chunks) {
    if (star) setBit(stays, begin);
    begin += own.length;
  }
  const takenBy = new Map<number, Uint32Array>();
  const takers = (code: number): Uint32Array => {
    const known = takenBy.get(code);
    if (known !== undefined) return known;
    budget.spend(elements.length);
    const mask = new Uint32Array(words);
    for (const [index, element] of elements.entries()) if (takes(element, code)) setBit(mask, index);
    takenBy.set(code, mask);
    return mask;
  };
  const reached = new Uint32Array(words);
  setBit(reached, 0);
  const lengths: number[] = [];
  budget.spend(value.length * words);
  for (let at = 0; at < value.length; at++) {
    const mask = takers(value.charCodeAt(at));
    let carried = 0;
    for (let word = 0; word < words; word++) {
      const taken = (reached[word] ?? 0) & (mask[word] ?? 0);
      reached[word] = (taken << 1) | carried | ((reached[word] ?? 0) & (stays[word] ?? 0));
      carried = taken >>> (bitsOfWord - 1);
    }
    if (hasBit(reached, elements.length)) lengths.push(at + 1);
  }
  return lengths;
}

function setBit(words: Uint32Array, bit: number): void {
  const word = Math.floor(bit / bitsOfWord);
  words[word] = (words[word] ?? 0) | (1 << (bit % bitsOfWord));
}

function hasBit(words: Uint32Array, bit: number): boolean {
  return ((words[Math.floor(bit / bitsOfWord)] ?? 0) & (1 << (bit % bitsOfWord))) !== 0;
}

/** The one length that is asked for, if any matches. Each beginning is compared by itself, as upstream does it. */
function lengthsByCharacters(
  value: string,
  chunks: readonly GlobChunk[],
  which: "shortest" | "longest",
  budget: Pick<StepBudget, "spend">,
): readonly number[] {
  const text = new CharacterText(value);
  const lengths = Array.from({ length: value.length }, (_, index) => index + 1);
  const tried = which === "shortest" ? lengths : lengths.toReversed();
  const found = tried.find((length) => matchesBeginning(text, length, chunks, budget));
  return found === undefined ? [] : [found];
}

/**
 * Whether a beginning matches. Each chunk takes the first place where it fits, and upstream never tries a second one: that
 * matters where a star ends inside of a character.
 */
function matchesBeginning(
  text: CharacterText,
  length: number,
  chunks: readonly GlobChunk[],
  budget: Pick<StepBudget, "spend">,
): boolean {
  let at = 0;
  for (const [index, { star, elements }] of chunks.entries()) {
    if (elements.length === 0) return true;
    const isLast = index === chunks.length - 1;
    const lastStart = star ? length : at;
    let end: number | undefined;
    for (let start = at; start <= lastStart; start++) {
      end = endOf(elements, text, start, length, budget);
      if (end === length || (end !== undefined && !isLast)) break;
      end = undefined;
    }
    if (end === undefined) return false;
    at = end;
  }
  return at === length;
}

/** Where the elements end that begin at `start`; undefined if they do not fit. */
function endOf(
  elements: readonly GlobElement[],
  text: CharacterText,
  start: number,
  length: number,
  budget: Pick<StepBudget, "spend">,
): number | undefined {
  let at = start;
  let compared = 0;
  let fits = true;
  for (const element of elements) {
    compared++;
    fits = at < length;
    if (!fits) break;
    if (element.kind === "byte") {
      fits = element.code === text.byteAt(at);
      at++;
    } else {
      const isCut = at + text.widthAt(at) > length;
      fits = takes(element, isCut ? invalidRune.code : text.codeAt(at));
      at += isCut ? invalidRune.width : text.widthAt(at);
    }
    if (!fits) break;
  }
  budget.spend(compared);
  return fits ? at : undefined;
}

/** The bytes of a text, and the character that begins at each of them. */
class CharacterText {
  readonly #bytes: string;
  readonly #codes: Int32Array;
  readonly #widths: Uint8Array;

  constructor(bytes: string) {
    this.#bytes = bytes;
    this.#codes = new Int32Array(bytes.length);
    this.#widths = new Uint8Array(bytes.length);
    for (let at = 0; at < bytes.length; at++) {
      const { code, width } = runeAt(bytes, at);
      this.#codes[at] = code;
      this.#widths[at] = width;
    }
  }

  byteAt(at: number): number {
    return this.#bytes.charCodeAt(at);
  }

  codeAt(at: number): number {
    return this.#codes[at] ?? invalidRune.code;
  }

  widthAt(at: number): number {
    return this.#widths[at] ?? invalidRune.width;
  }
}

function takes(element: GlobElement, code: number): boolean {
  switch (element.kind) {
    case "byte":
      return element.code === code;
    case "any":
      return true;
    case "class":
      return element.ranges.some(([low, high]) => low <= code && code <= high) !== element.isNegated;
  }
}
