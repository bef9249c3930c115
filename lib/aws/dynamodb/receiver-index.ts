import { GetItemCommand, type TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { digestOf } from "../../core/digest.ts";
import {
  maxReceiversOfPath,
  packEntry,
  pathDigest,
  type ReceiverIndex,
  unpackEntry,
} from "../../core/ports/receiver-index.ts";
import { formatWorkKey, parseWorkKey, type WorkKey } from "../../core/work-key.ts";
import { queryRows } from "./read-rows.ts";
import { bytesOf, keyOf, keyPart, objectPartition, type RowKey, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { fencedWrites } from "./write-rows.ts";

/** The part of the object's own row that describes its entry. */
interface Own {
  /** The digest of the path. */
  readonly at: string;
  /** The digest of the entry, so that an equal entry is not written again. */
  readonly digest: string;
}

/** One row under the digest of the path, which deliveries read, and one at the object that names that row. */
export function dynamodbReceiverIndex(table: StateTable): ReceiverIndex {
  const { name: TableName } = table;

  const readOwn = async (key: WorkKey, signal: AbortSignal): Promise<Own | undefined> => {
    const command = new GetItemCommand({ TableName, Key: keyOf(ownRowKey(key)), ConsistentRead: true });
    const { Item: item } = await table.call("GetItem", (client, options) => client.send(command, options), signal);
    return item === undefined ? undefined : { at: textOf(item, "at"), digest: textOf(item, "digest") };
  };
  const removal = (key: WorkKey, { at }: Own): TransactWriteItem => ({
    Delete: { TableName, Key: keyOf(entryRowKey(at, key)) },
  });

  return {
    async save(path, entry, fence, signal) {
      const { key } = fence;
      const packed = packEntry(entry);
      const own: Own = { at: pathDigest(path), digest: digestOf(packed) };
      const before = await readOwn(key, signal);
      if (before?.at === own.at && before.digest === own.digest) return;
      const row = { ...keyOf(entryRowKey(own.at, key)), key: { S: formatWorkKey(key) }, entry: { B: packed } };
      const ownRow = { ...keyOf(ownRowKey(key)), at: { S: own.at }, digest: { S: own.digest } };
      const writes: readonly TransactWriteItem[] = [
        { Put: { TableName, Item: row } },
        { Put: { TableName, Item: ownRow } },
        ...(before === undefined || before.at === own.at ? [] : [removal(key, before)]),
      ];
      await fencedWrites(table, fence, writes, signal);
    },
    async remove(fence, signal) {
      const { key } = fence;
      const before = await readOwn(key, signal);
      if (before === undefined) return;
      await fencedWrites(
        table,
        fence,
        [removal(key, before), { Delete: { TableName, Key: keyOf(ownRowKey(key)) } }],
        signal,
      );
    },
    async find(path, signal) {
      const query = {
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: pathPartition(pathDigest(path)) } },
      };
      const rows = await queryRows(table, query, signal, maxReceiversOfPath);
      return rows.map((row) => ({
        key: parseWorkKey(textOf(row, "key")),
        entry: unpackEntry(bytesOf(row, "entry")),
      }));
    },
  };
}

function entryRowKey(at: string, key: WorkKey): RowKey {
  return { pk: pathPartition(at), sk: keyPart(formatWorkKey(key)) };
}

function pathPartition(at: string): string {
  return `hook#${at}`;
}

function ownRowKey(key: WorkKey): RowKey {
  return { pk: objectPartition(key), sk: "hook" };
}
