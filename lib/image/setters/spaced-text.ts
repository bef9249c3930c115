import { Lexer } from "yaml";
import { flowEnd } from "./flow-end.ts";

/** A text with spaces put into it, and where each place of it was before. */
export interface SpacedText {
  readonly text: string;
  readonly placeOf: (offset: number) => number;
}

/** What the lexer puts before a plain scalar or the text of a block. */
const scalarMark = "\u001f";
/** What is not part of the text: the start of a document and the end of a flow collection that has none, too. */
const marks: ReadonlySet<string> = new Set(["\u0002", "\u0018", scalarMark]);

/** Lines are not indented further than this. */
const maxIndentation = 200;

/**
 * js-yaml refuses what go-yaml reads: lines of flow collections and quoted scalars that are not indented, such as the `]` of a list
 * below its key, and a comment right behind a quote or a bracket. Spaces there change no value. Undefined if the text has no such
 * place, or a collection without an end.
 */
export function* spacedText(text: string): Generator<undefined, SpacedText | undefined> {
  const spaced = new Spaced(text);
  let steps = 0;
  while (spaced.at < text.length) {
    steps++;
    if (steps % 1_000 === 0) yield;
    yield* copyToFlow(text, spaced);
    if (spaced.at === text.length) break;
    const end = flowEnd(text, spaced.at);
    if (end === undefined) return undefined;
    spaced.copyIndented(end);
    if (text[end] === "#") spaced.put(" ");
  }
  return spaced.done();
}

/** Copies what the lexer finds up to the next flow collection or quoted scalar, or all. */
function* copyToFlow(text: string, spaced: Spaced): Generator<undefined, void> {
  let isScalar = false;
  let steps = 0;
  for (const lexeme of new Lexer().lex(text.slice(spaced.at))) {
    if (marks.has(lexeme)) {
      isScalar = lexeme === scalarMark;
      continue;
    }
    if (!isScalar && /^[[{"']/.test(lexeme)) return;
    isScalar = false;
    spaced.copy(spaced.at + lexeme.length);
    steps++;
    if (steps % 1_000 === 0) yield;
  }
}

class Spaced {
  /** How far the text has been copied. */
  at = 0;
  readonly #text: string;
  readonly #parts: string[] = [];
  readonly #gaps: { readonly at: number; readonly shift: number }[] = [];
  #shift = 0;

  constructor(text: string) {
    this.#text = text;
  }

  copy(end: number): void {
    this.#parts.push(this.#text.slice(this.at, end));
    this.at = end;
  }

  /** Puts spaces at the start of each line: more than stand before the key or the value with which the first one begins. */
  copyIndented(end: number): void {
    const start = this.#text.lastIndexOf("\n", this.at - 1) + 1;
    const begin = this.#text.slice(start, Math.min(this.at, start + maxIndentation)).search(/[^ ?-]/);
    const indentation = " ".repeat(begin === -1 ? this.at - start + 1 : begin + 1);
    for (let line = this.#text.indexOf("\n", this.at) + 1; line > 0 && line < end; ) {
      this.copy(line);
      this.put(indentation);
      line = this.#text.indexOf("\n", line) + 1;
    }
    this.copy(end);
  }

  put(spaces: string): void {
    this.#parts.push(spaces);
    this.#shift += spaces.length;
    this.#gaps.push({ at: this.at + this.#shift, shift: this.#shift });
  }

  done(): SpacedText | undefined {
    if (this.#gaps.length === 0) return undefined;
    return { text: this.#parts.join(""), placeOf: (offset) => offset - this.#shiftAt(offset) };
  }

  /** How many spaces were put in before the offset. */
  #shiftAt(offset: number): number {
    let low = -1;
    let high = this.#gaps.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#gaps[middle]?.at ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return this.#gaps[low]?.shift ?? 0;
  }
}
