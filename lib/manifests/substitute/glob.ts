/**
 * The patterns of `${name#pattern}` and its kin: Go's `path.Match`, except that `*` also matches slashes. Texts are of bytes, one
 * character each (`latin1`), as upstream compares them.
 */

/** A pattern that upstream cannot read, found where the comparison gets there. */
class BadPattern extends Error {}

/** A longer value or pattern would take long: a value is compared as often as it has bytes. */
export const maxGlobbedBytes = 4_096;
export const maxGlobBytes = 256;

/** The value without the shortest or longest beginning that matches; the value itself if none does or the pattern is malformed. */
export function trimPrefix(value: string, pattern: string, which: "shortest" | "longest"): string {
  try {
    let trimmed = value;
    for (let length = value.length; length > 0; length--) {
      if (!matches(pattern, value.slice(0, length))) continue;
      trimmed = value.slice(length);
      if (which === "longest") break;
    }
    return trimmed;
  } catch (error) {
    if (error instanceof BadPattern) return value;
    throw error;
  }
}

function matches(pattern: string, name: string): boolean {
  let rest = name;
  let left = pattern;
  next: while (left !== "") {
    const { star, chunk, after } = takeChunk(left);
    left = after;
    if (star && chunk === "") return true;
    const here = matchChunk(chunk, rest);
    if (here !== undefined && (here === "" || left !== "")) {
      rest = here;
      continue;
    }
    if (!star) return false;
    for (let skipped = 1; skipped <= rest.length; skipped++) {
      const there = matchChunk(chunk, rest.slice(skipped));
      if (there === undefined || (left === "" && there !== "")) continue;
      rest = there;
      continue next;
    }
    return false;
  }
  return rest === "";
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

/** What of a text follows a chunk that it begins with; undefined if it does not. */
function matchChunk(chunk: string, text: string): string | undefined {
  let rest = text;
  for (let at = 0; at < chunk.length; ) {
    if (rest === "") return undefined;
    const char = chunk[at];
    if (char === "[") {
      const rune = runeAt(rest, 0);
      const found = matchClass(chunk, at + 1, rune.code);
      if (!found.holds) return undefined;
      rest = rest.slice(rune.width);
      at = found.end;
    } else if (char === "?") {
      rest = rest.slice(runeAt(rest, 0).width);
      at += 1;
    } else {
      if (char === "\\") at += 1;
      if (at >= chunk.length) throw new BadPattern();
      if (chunk[at] !== rest[0]) return undefined;
      rest = rest.slice(1);
      at += 1;
    }
  }
  return rest;
}

/** A class from behind its bracket on. */
function matchClass(chunk: string, start: number, code: number): { readonly holds: boolean; readonly end: number } {
  let at = start;
  const isNegated = chunk[at] === "^";
  if (isNegated) at += 1;
  let isIn = false;
  for (let ranges = 0; ; ranges++) {
    if (chunk[at] === "]" && ranges > 0) break;
    const low = classRune(chunk, at);
    at = low.end;
    let high = low;
    if (chunk[at] === "-") {
      high = classRune(chunk, at + 1);
      at = high.end;
    }
    if (low.code <= code && code <= high.code) isIn = true;
  }
  return { holds: isIn !== isNegated, end: at + 1 };
}

function classRune(chunk: string, start: number): { readonly code: number; readonly end: number } {
  if (start >= chunk.length || chunk[start] === "-" || chunk[start] === "]") throw new BadPattern();
  const at = chunk[start] === "\\" ? start + 1 : start;
  if (at >= chunk.length) throw new BadPattern();
  const { code, width, isValid } = runeAt(chunk, at);
  if (!isValid || at + width >= chunk.length) throw new BadPattern();
  return { code, end: at + width };
}

/** The code point of UTF-8 that begins at a byte; a byte that begins none counts as one of U+FFFD. */
function runeAt(
  bytes: string,
  at: number,
): { readonly code: number; readonly width: number; readonly isValid: boolean } {
  const first = bytes.charCodeAt(at);
  if (first < 0x80) return { code: first, width: 1, isValid: true };
  for (const width of [2, 3, 4]) {
    const text = Buffer.from(bytes.slice(at, at + width), "latin1").toString();
    const code = text.codePointAt(0) ?? 0;
    if (text.length === String.fromCodePoint(code).length && Buffer.byteLength(text) === width && code !== 0xfffd)
      return { code, width, isValid: true };
    if (code === 0xfffd && Buffer.from(text).toString("latin1") === bytes.slice(at, at + width) && width === 3)
      return { code, width, isValid: true };
  }
  return { code: 0xfffd, width: 1, isValid: false };
}
