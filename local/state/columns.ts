import type { SQLOutputValue } from "node:sqlite";

export type Row = Readonly<Record<string, SQLOutputValue>>;

/** A text column of a row. Throws where it is something else: the state file was changed by another program. */
export function textColumn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`the state's column ${column} holds no text`);
  return value;
}

export function numberColumn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`the state's column ${column} holds no number`);
  return value;
}
