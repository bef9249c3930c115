import { digestOf } from "../../core/digest.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import type { RowKey } from "./attributes.ts";

/** DynamoDB takes 2,048 bytes of a partition key and 1,024 of a sort key; what is added to a part needs its room. */
const maxPartBytes = 900;

/** The part of a key that a text is: itself, or its digest where it is too long. */
export function keyPart(text: string): string {
  return Buffer.byteLength(text) <= maxPartBytes ? text : digestOf(text);
}

/** The partition of all that one object has in the table. */
export function objectPartition(key: WorkKey): string {
  return `obj#${keyPart(formatWorkKey(key))}`;
}

export const workSortKey = "work";

export function workRowKey(key: WorkKey): RowKey {
  return { pk: objectPartition(key), sk: workSortKey };
}
