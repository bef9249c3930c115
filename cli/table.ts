import { safeText } from "../lib/core/safe-text.ts";

const tabStop = 8;
const minLastWidth = 20;

/**
 * A table as flux prints it: columns padded to their widest cell and separated by tabs, each row ended by one, the header in
 * capitals and ended by a space. Widths are counted in columns of the screen. With `columns`, the width of a screen, the
 * last column is cut to it, to no less than 20 columns.
 */
export function table(
  header: readonly string[] | undefined,
  rows: readonly (readonly string[])[],
  columns?: number,
): string {
  return columns === undefined ? padded(header, rows) : padded(header, cutToScreen(header, rows, columns));
}

function cutToScreen(
  header: readonly string[] | undefined,
  rows: readonly (readonly string[])[],
  columns: number,
): readonly (readonly string[])[] {
  const widths = widthsOf(header === undefined ? rows : [header, ...rows]);
  const start = widths.slice(0, -1).reduce((at, width) => (Math.floor((at + width) / tabStop) + 1) * tabStop, 0);
  // One column less than the rest of the line: the header ends with a space.
  const lastWidth = Math.max(columns - start - 1, minLastWidth);
  return rows.map((cells) => [...cells.slice(0, -1), ...cells.slice(-1).map((cell) => cutCell(cell, lastWidth))]);
}

function cutCell(cell: string, width: number): string {
  const whole = oneLine(cell);
  if (columnsOf(whole) <= width) return cell;
  const line = causeFirst(whole, width);
  if (columnsOf(line) <= width) return line;
  let kept = "";
  let used = 0;
  for (const character of line) {
    used += columnsOf(character);
    if (used >= width) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** What only says that something failed, and not why: the cause follows it. */
const consequence = /\b(?:failed|failure|fails|unable|cannot|could not|not ready|error)\b/i;

/**
 * A failure without the consequences before its cause, as far as it is too wide: `failed to fetch: unable to clone 'x': no such host`
 * becomes `…no such host`.
 */
function causeFirst(line: string, width: number): string {
  let rest = line;
  // The width of the rest is subtracted, not measured again: a message may have a megabyte of consequences.
  let left = columnsOf(line);
  for (let end = rest.indexOf(": "); end > 0 && left >= width; end = rest.indexOf(": ")) {
    if (!consequence.test(rest.slice(0, end))) break;
    const next = rest.slice(end + 2).trimStart();
    left -= columnsOf(rest.slice(0, rest.length - next.length));
    rest = next;
  }
  return rest === line ? line : `…${rest}`;
}

function padded(header: readonly string[] | undefined, rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(header === undefined ? rows : [header, ...rows]);
  const pad = (cells: readonly string[]) =>
    cells.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)));
  const head = header === undefined ? "" : `${pad(header).join("\t").toUpperCase()} \n`;
  return head + rows.map((cells) => `${pad(cells.map(oneLine)).join("\t")}\t\n`).join("");
}

function widthsOf(lines: readonly (readonly string[])[]): readonly number[] {
  return (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => widthOf(cells[column] ?? ""))));
}

function widthOf(cell: string): number {
  return columnsOf(oneLine(cell));
}

/** The columns of a text on a terminal: two for a wide character, none for a mark on the one before. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += wide.test(character) ? 2 : 1 - Number(combining.test(character));
  return columns;
}

/** Wide and fullwidth by Unicode's East Asian Width, by blocks, and emoji; a flag is two characters of one column each. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|(?!\p{RI})\p{Emoji_Presentation}/u;
const combining = /[\p{Mn}\p{Me}\u200d]/u;

/** A cell without line breaks and tabs, which would break the table, and with invisible characters as they are shown. */
function oneLine(cell: string): string {
  return safeText(
    cell
      .trim()
      .replaceAll(/\s*\n\s*/g, " ")
      .replaceAll("\t", " "),
  );
}
