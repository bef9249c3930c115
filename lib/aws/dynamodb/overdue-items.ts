import { type ListedItems, overdueAt } from "../../core/ports/work-items.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { listItems } from "../../queue/stored-work-item.ts";
import { numberOf, type Row, textOf } from "./attributes.ts";
import { batchGet } from "./batch-get.ts";
import { queryRows } from "./query-rows.ts";
import type { StateTable } from "./state-table.ts";
import { dueIndex } from "./table.ts";
import { shardCount, shardName, workItemOf } from "./work-row.ts";

/** Items looked at beyond the limit, since the index knows due times by the minute only. */
const maxBeyond = 200;

/** Items past their due time, the longest overdue first: those that the index names, read and judged by what they are now. */
export async function overdueItems(
  table: StateTable,
  now: number,
  limit: number,
  signal: AbortSignal,
): Promise<ListedItems> {
  for (let wanted = limit; ; wanted *= 4) {
    const { items, unreadable, isAll } = await firstItems(table, now, wanted, signal);
    // Rows that cannot be read stay the longest overdue: enough is looked at to see past them.
    if (unreadable.length > 0 && items.length < limit && !isAll) continue;
    return { items: items.slice(0, limit), unreadable };
  }
}

/** Of the `wanted` that the index names first; `isAll`: it names no others. */
async function firstItems(
  table: StateTable,
  now: number,
  wanted: number,
  signal: AbortSignal,
): Promise<ListedItems & { isAll: boolean }> {
  const maxRows = wanted + maxBeyond;
  const shards = await Promise.all(
    Array.from({ length: shardCount }, (_, shard) => indexedRows(table, shard, now, maxRows, signal)),
  );
  const indexed = shards.flat().toSorted((a, b) => numberOf(a, "overdue") - numberOf(b, "overdue"));
  const last = indexed[wanted - 1];
  // All of the last one's minute: any of them may be the longest overdue.
  const isWanted = (row: Row): boolean => last === undefined || numberOf(row, "overdue") <= numberOf(last, "overdue");
  const looked = indexed.filter(isWanted).slice(0, maxRows);
  const keys = looked.map((row) => ({ pk: textOf(row, "pk"), sk: textOf(row, "sk") }));
  const { items, unreadable } = listItems(await batchGet(table, keys, signal), workItemOf);
  const overdue = items
    .flatMap((item) => {
      const at = overdueAt(item);
      return at !== undefined && at <= now ? [{ at, key: formatWorkKey(item.key), item }] : [];
    })
    .toSorted((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
  const isAll = looked.length === indexed.length && shards.every((rows) => rows.length < maxRows);
  return { items: overdue, unreadable, isAll };
}

function indexedRows(
  table: StateTable,
  shard: number,
  now: number,
  maxRows: number,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const query = {
    IndexName: dueIndex,
    KeyConditionExpression: "#shard = :shard AND overdue <= :now",
    ExpressionAttributeNames: { "#shard": "shard" },
    ExpressionAttributeValues: { ":shard": { S: shardName(shard) }, ":now": { N: String(now) } },
    Limit: maxRows,
  };
  return queryRows(table, query, signal, maxRows);
}
