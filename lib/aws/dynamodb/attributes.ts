import type { AttributeValue } from "@aws-sdk/client-dynamodb";

/** An item as the SDK gives and takes it. */
export type Row = Readonly<Record<string, AttributeValue>>;

/** The key of an item of the table. */
export interface RowKey {
  readonly pk: string;
  readonly sk: string;
}

export function keyOf({ pk, sk }: RowKey): { pk: AttributeValue; sk: AttributeValue } {
  return { pk: { S: pk }, sk: { S: sk } };
}

export function textOf(row: Row, attribute: string): string {
  const text = row[attribute]?.S;
  if (text === undefined) throw damaged(row, attribute, "text");
  return text;
}

export function numberOf(row: Row, attribute: string): number {
  const digits = row[attribute]?.N;
  if (digits === undefined) throw damaged(row, attribute, "number");
  return Number(digits);
}

export function bytesOf(row: Row, attribute: string): Uint8Array {
  const bytes = row[attribute]?.B;
  if (bytes === undefined) throw damaged(row, attribute, "bytes");
  return bytes;
}

function damaged(row: Row, attribute: string, what: string): TypeError {
  const item = `${row["pk"]?.S ?? ""} / ${row["sk"]?.S ?? ""}`;
  return new TypeError(`the table's item ${item} holds no ${what} in ${attribute}: another program has changed it`);
}
