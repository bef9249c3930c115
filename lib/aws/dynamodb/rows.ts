import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { digestOf } from "../../core/digest.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";

/** A row as the SDK reads and writes it. */
export type Row = Readonly<Record<string, AttributeValue>>;

/** The key of a row of the table. */
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
  return new TypeError(`the table's item ${item} has no ${what} in ${attribute}: another program has changed it`);
}

/** DynamoDB takes 2,048 bytes of a partition key and 1,024 of a sort key. The rest is room for prefixes and suffixes. */
const maxPartBytes = 900;

/** A text as a part of a key: the text itself, or its digest if it is too long. */
export function keyPart(text: string): string {
  return Buffer.byteLength(text) <= maxPartBytes ? text : digestOf(text);
}

/** The prefix of an object's partition; its key follows. */
export const objectPrefix = "obj#";

/** The partition of all rows of one object. */
export function objectPartition(key: WorkKey): string {
  return `${objectPrefix}${keyPart(formatWorkKey(key))}`;
}

export const workSortKey = "work";

export function workRowKey(key: WorkKey): RowKey {
  return { pk: objectPartition(key), sk: workSortKey };
}

/** Far above our longest text. A row that unpacks to more is not ours. */
export const maxUnpackedBytes = 64 * 1024 * 1024;

/** Compresses a text to about a third: ids and digests repeat much, and capacity is paid by the kilobyte. */
export function pack(text: string): Uint8Array {
  return deflateRawSync(text);
}

export function unpack(bytes: Uint8Array): string {
  return inflateRawSync(bytes, { maxOutputLength: maxUnpackedBytes }).toString("utf8");
}
