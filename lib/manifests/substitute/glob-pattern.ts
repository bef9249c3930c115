import { runeAt } from "./runes.ts";

/**
 * The patterns of `${name#pattern}` and its kin: Go's `path.Match`, except that `*` also matches slashes. Texts are of bytes, one
 * character each (`latin1`), as upstream compares them.
 */

/** What takes one byte or one character of a text. */
export type GlobElement =
  | { readonly kind: "byte"; readonly code: number }
  | { readonly kind: "any" }
  | { readonly kind: "class"; readonly ranges: readonly (readonly [number, number])[]; readonly isNegated: boolean };

/** Elements that follow each other, after a star or at the beginning. A star at the end has none. */
export interface GlobChunk {
  readonly star: boolean;
  readonly elements: readonly GlobElement[];
}

/** Undefined for a pattern that upstream cannot read: nothing matches it. */
export function parseGlob(pattern: string): readonly GlobChunk[] | undefined {
  const chunks: GlobChunk[] = [];
  let left = pattern;
  while (left !== "") {
    const { star, chunk, after } = takeChunk(left);
    const elements = elementsOf(chunk);
    if (elements === undefined) return undefined;
    chunks.push({ star, elements });
    left = after;
  }
  return chunks;
}

/** The stars at the beginning of a pattern, and what follows up to the next star outside of brackets. */
function takeChunk(pattern: string): { readonly star: boolean; readonly chunk: string; readonly after: string } {
  const rest = pattern.replace(/^\*+/, "");
  let inClass = false;
  let end = 0;
  for (; end < rest.length; end++) {
    const char = rest[end];
    if (char === "\\") end += end + 1 < rest.length ? 1 : 0;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "*" && !inClass) break;
  }
  return { star: rest.length < pattern.length, chunk: rest.slice(0, end), after: rest.slice(end) };
}

function elementsOf(chunk: string): readonly GlobElement[] | undefined {
  const elements: GlobElement[] = [];
  for (let at = 0; at < chunk.length; ) {
    const read = elementAt(chunk, at);
    if (read === undefined) return undefined;
    elements.push(read.element);
    at = read.end;
  }
  return elements;
}

interface Read<Value> {
  readonly element: Value;
  /** Behind it. */
  readonly end: number;
}

function elementAt(chunk: string, start: number): Read<GlobElement> | undefined {
  const char = chunk[start];
  if (char === "[") return classAt(chunk, start + 1);
  if (char === "?") return { element: { kind: "any" }, end: start + 1 };
  const at = char === "\\" ? start + 1 : start;
  return at < chunk.length ? { element: { kind: "byte", code: chunk.charCodeAt(at) }, end: at + 1 } : undefined;
}

/** A class from behind its bracket on. */
function classAt(chunk: string, start: number): Read<GlobElement> | undefined {
  const isNegated = chunk[start] === "^";
  const ranges: [number, number][] = [];
  let at = isNegated ? start + 1 : start;
  while (chunk[at] !== "]" || ranges.length === 0) {
    const low = classRune(chunk, at);
    if (low === undefined) return undefined;
    const high = chunk[low.end] === "-" ? classRune(chunk, low.end + 1) : low;
    if (high === undefined) return undefined;
    ranges.push([low.element, high.element]);
    at = high.end;
  }
  return { element: { kind: "class", ranges, isNegated }, end: at + 1 };
}

/** The code of a character in a class; the class must not end after it. */
function classRune(chunk: string, start: number): Read<number> | undefined {
  if (start >= chunk.length || chunk[start] === "-" || chunk[start] === "]") return undefined;
  const at = chunk[start] === "\\" ? start + 1 : start;
  if (at >= chunk.length) return undefined;
  const { code, width, isValid } = runeAt(chunk, at);
  return isValid && at + width < chunk.length ? { element: code, end: at + width } : undefined;
}
