import { printable } from "./printable.ts";

/**
 * A table as flux prints it: columns padded to their widest cell and separated by tabs, each row ended by one, the header in
 * capitals and ended by a space. Widths are counted in characters, not in bytes.
 */
export function table(header: readonly string[] | undefined, rows: readonly (readonly string[])[]): string {
  const lines = header === undefined ? rows : [header, ...rows];
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => widthOf(cells[column] ?? ""))));
  const pad = (cells: readonly string[]) =>
    cells.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)));
  const head = header === undefined ? "" : `${pad(header).join("\t").toUpperCase()} \n`;
  return head + rows.map((cells) => `${pad(cells.map(oneLine)).join("\t")}\t\n`).join("");
}

function widthOf(cell: string): number {
  return Array.from(oneLine(cell)).length;
}

/** A line break or a tab in a message would break the table, and what is not shown has no width. */
function oneLine(cell: string): string {
  return printable(
    cell
      .trim()
      .replaceAll(/\s*\n\s*/g, " ")
      .replaceAll("\t", " "),
  );
}
