/** Where a scalar stands, for the comments that may mark it. */
export interface ScalarPlace {
  /** Where its anchor, its tag or itself begins, the quote or the header of a block included. */
  readonly start: number;
  /** Where it ends, behind its quote; of a block, behind the indicators of its header. */
  readonly end: number;
  /** Whether it is an item of a list in block style. */
  readonly isItem: boolean;
  /** What stands before it in its list. */
  readonly previous: "none" | "scalar" | "collection";
}

/**
 * The comment that may mark a scalar: the one behind it on its line, or else the one alone on the line above, of a scalar that
 * begins its line or is the item that begins there.
 */
export function commentOf(text: string, place: ScalarPlace): string | undefined {
  return commentBehind(text, place.end) ?? commentAbove(text, place);
}

/** A comma may stand between. */
function commentBehind(text: string, end: number): string | undefined {
  let at = skipBlanks(text, end);
  if (text[at] === ",") at = skipBlanks(text, at + 1);
  return text[at] === "#" ? lineFrom(text, at) : undefined;
}

function commentAbove(text: string, { start, isItem, previous }: ScalarPlace): string | undefined {
  const before = backOverBlanks(text, start);
  if (isLineStart(text, before)) {
    const above = before === 0 ? undefined : lineBefore(text, before);
    if (above === undefined) return undefined;
    if (isItem && /^[ \t]*-[ \t]+#/.test(above.text)) return above.text.slice(above.text.indexOf("#"));
    return aloneAbove(text, before, { isFirst: previous === "none", maxColumn: Number.POSITIVE_INFINITY });
  }
  if (!isItem || text[before - 1] !== "-") return undefined;
  const dash = before - 1;
  const line = backOverBlanks(text, dash);
  if (!isLineStart(text, line)) return undefined;
  const maxColumn = previous === "collection" ? dash - line : Number.POSITIVE_INFINITY;
  return aloneAbove(text, line, { isFirst: previous === "none", maxColumn });
}

/**
 * The only line of the comment above a line. With a blank line between, it belongs to what is above it, unless that is a blank
 * line too, or the key of the list.
 */
function aloneAbove(
  text: string,
  line: number,
  { isFirst, maxColumn }: { readonly isFirst: boolean; readonly maxColumn: number },
): string | undefined {
  let above = lineBefore(text, line);
  const isApart = above !== undefined && isBlank(above.text);
  while (above !== undefined && isBlank(above.text)) above = lineBefore(text, above.start);
  if (above === undefined) return undefined;
  const comment = above.text.trim();
  if (!comment.startsWith("#") || above.text.indexOf("#") > maxColumn) return undefined;
  let further = lineBefore(text, above.start);
  if (further !== undefined && isApart && !isFirst && !isBlank(further.text)) return undefined;
  while (isFirst && further !== undefined && isBlank(further.text)) further = lineBefore(text, further.start);
  return further?.text.trimStart().startsWith("#") === true ? undefined : comment;
}

function isBlank(line: string): boolean {
  return line.trim() === "";
}

interface Line {
  readonly start: number;
  readonly text: string;
}

/** The line above the one that starts here. */
function lineBefore(text: string, start: number): Line | undefined {
  if (start === 0) return undefined;
  const above = text.lastIndexOf("\n", start - 2) + 1;
  return { start: above, text: text.slice(above, start - 1) };
}

function lineFrom(text: string, start: number): string {
  const length = text.slice(start).search(/[\r\n]/);
  return length === -1 ? text.slice(start) : text.slice(start, start + length);
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  return at;
}

function backOverBlanks(text: string, from: number): number {
  let at = from;
  while (text[at - 1] === " " || text[at - 1] === "\t") at--;
  return at;
}

function isLineStart(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === "\n";
}
