import { Lexer } from "yaml";

/** A text with spaces put into it, and where each place of it was before. */
export interface SpacedText {
  readonly text: string;
  readonly placeOf: (offset: number) => number;
}

/** Deeper than any line of a flow collection has to be. */
const indentation = " ".repeat(200);

/**
 * js-yaml refuses what go-yaml reads: lines of flow collections and quoted scalars that are not indented, such as the `]` of a list
 * below its key, and a comment right behind a quote or a bracket. Spaces there change no value. Undefined if the text has no such place.
 */
export function* spacedText(text: string): Generator<undefined, SpacedText | undefined> {
  const parts: string[] = [];
  const gaps: { readonly at: number; readonly shift: number }[] = [];
  let shift = 0;
  let depth = 0;
  let at = 0;
  const add = (spaces: string): void => {
    parts.push(spaces);
    shift += spaces.length;
    gaps.push({ at: at + shift, shift });
  };
  let before = "\n";
  for (const lexeme of new Lexer().lex(text)) {
    // Marks of the lexer, which are not part of the text.
    if (/^[\u0002\u0018\u001f]$/.test(lexeme)) continue;
    if (lexeme === "]" || lexeme === "}") depth--;
    if (before.endsWith("\n") && (depth > 0 || lexeme === "]" || lexeme === "}")) add(indentation);
    if (lexeme.startsWith("#") && /["'\]},]$/.test(before)) add(" ");
    if (lexeme === "[" || lexeme === "{") depth++;
    const isQuoted = /^["']/.test(lexeme);
    for (const [index, line] of (isQuoted ? lexeme.split("\n") : [lexeme]).entries()) {
      if (index > 0) {
        parts.push("\n");
        at++;
        add(indentation);
      }
      parts.push(line);
      at += line.length;
    }
    before = lexeme;
    if (parts.length % 1_000 === 0) yield;
  }
  if (gaps.length === 0) return undefined;
  return { text: parts.join(""), placeOf: (offset) => offset - shiftAt(gaps, offset) };
}

/** How many spaces were put in before the offset. */
function shiftAt(gaps: readonly { readonly at: number; readonly shift: number }[], offset: number): number {
  let low = -1;
  let high = gaps.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((gaps[middle]?.at ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return gaps[low]?.shift ?? 0;
}
