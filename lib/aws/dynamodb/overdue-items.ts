import { overdueAt, type WorkItem } from "../../core/ports/work-items.ts";
import { formatWorkKey } from "../../core/work-key.ts";
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
): Promise<readonly WorkItem[]> {
  const shards = Array.from({ length: shardCount }, (_, shard) => indexedItems(table, shard, now, limit, signal));
  const indexed = (await Promise.all(shards))
    .flat()
    .toSorted((a, b) => numberOf(a, "overdue") - numberOf(b, "overdue"));
  const last = indexed[limit - 1];
  // All of the last one's minute: any of them may be the longest overdue.
  const isWanted = (row: Row): boolean => last === undefined || numberOf(row, "overdue") <= numberOf(last, "overdue");
  const keys = indexed
    .filter(isWanted)
    .slice(0, limit + maxBeyond)
    .map((row) => ({ pk: textOf(row, "pk"), sk: textOf(row, "sk") }));
  const items = (await batchGet(table, keys, signal)).flatMap((row) => workItemOf(row) ?? []);
  return items
    .flatMap((item) => {
      const at = overdueAt(item);
      return at !== undefined && at <= now ? [{ at, key: formatWorkKey(item.key), item }] : [];
    })
    .toSorted((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
    .slice(0, limit)
    .map(({ item }) => item);
}

function indexedItems(
  table: StateTable,
  shard: number,
  now: number,
  limit: number,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const query = {
    IndexName: dueIndex,
    KeyConditionExpression: "#shard = :shard AND overdue <= :now",
    ExpressionAttributeNames: { "#shard": "shard" },
    ExpressionAttributeValues: { ":shard": { S: shardName(shard) }, ":now": { N: String(now) } },
    Limit: limit + maxBeyond,
  };
  return queryRows(table, query, signal, limit + maxBeyond);
}
