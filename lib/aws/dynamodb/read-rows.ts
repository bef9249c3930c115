import {
  BatchGetItemCommand,
  type BatchGetItemCommandOutput,
  type KeysAndAttributes,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  ScanCommand,
  type ScanCommandInput,
} from "@aws-sdk/client-dynamodb";
import { gaveUp, retryBudget } from "./retry-budget.ts";
import { keyOf, type Row, type RowKey } from "./rows.ts";
import type { StateTable } from "./state-table.ts";

/** The most keys that DynamoDB takes in one batch. */
const maxKeys = 100;

/**
 * The rows of these different keys, in no order, without those that do not exist.
 *
 * @param consistent false: at half the price, but the latest writes may be missing
 */
export async function batchGet(
  table: StateTable,
  keys: readonly RowKey[],
  signal: AbortSignal,
  consistent = true,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let start = 0; start < keys.length; start += maxKeys) {
    const batch = keys.slice(start, start + maxKeys).map(keyOf);
    const budget = retryBudget(table.clock);
    for (let left: KeysAndAttributes | undefined = { Keys: batch, ConsistentRead: consistent }; left !== undefined; ) {
      const { Responses: found = {}, UnprocessedKeys: unprocessed = {} } = await getOnce(table, left, signal);
      rows.push(...(found[table.name] ?? []));
      // Rows beyond 16 MB or beyond the table's throughput are left for another call.
      left = unprocessed[table.name];
      if (left !== undefined && !(await budget.again(signal)))
        throw gaveUp(table.name, "BatchGetItem", "keys were left over");
    }
  }
  return rows;
}

function getOnce(table: StateTable, keys: KeysAndAttributes, signal: AbortSignal): Promise<BatchGetItemCommandOutput> {
  const command = new BatchGetItemCommand({ RequestItems: { [table.name]: keys } });
  return table.call("BatchGetItem", (client, options) => client.send(command, options), signal);
}

/** A query of one partition. `Limit` counts for a page, `maxRows` for the whole answer. */
type PartitionQuery = Omit<QueryCommandInput, "TableName" | "ExclusiveStartKey">;

/** The rows that a query finds, in its order, all pages up to `maxRows`. */
export async function queryRows(
  table: StateTable,
  query: PartitionQuery,
  signal: AbortSignal,
  maxRows = Number.POSITIVE_INFINITY,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const page of queryPages(table, query, signal)) {
    rows.push(...page);
    if (rows.length >= maxRows) break;
  }
  return rows.slice(0, maxRows);
}

/** The pages of a query, in its order; each is asked for when it is wanted. */
export function queryPages(
  table: StateTable,
  query: PartitionQuery,
  signal: AbortSignal,
): AsyncGenerator<readonly Row[]> {
  return pages((from) => {
    const command = new QueryCommand({ ...query, TableName: table.name, ...from });
    return table.call("Query", (client, options) => client.send(command, options), signal);
  });
}

/** A scan of the whole table. AWS bills it by what it reads, not by what it finds. */
type TableScan = Omit<ScanCommandInput, "TableName" | "ExclusiveStartKey">;

/** The pages of a scan, in no order; each is asked for when it is wanted. A row that is written meanwhile may be missing. */
export function scanPages(table: StateTable, scan: TableScan, signal: AbortSignal): AsyncGenerator<readonly Row[]> {
  return pages((from) => {
    const command = new ScanCommand({ ...scan, TableName: table.name, ...from });
    return table.call("Scan", (client, options) => client.send(command, options), signal);
  });
}

type Position = Pick<QueryCommandInput, "ExclusiveStartKey">;
type Page = Pick<QueryCommandOutput, "Items" | "LastEvaluatedKey">;

async function* pages(ask: (from: Position) => Promise<Page>): AsyncGenerator<readonly Row[]> {
  let from: Position = {};
  do {
    const { Items: rows = [], LastEvaluatedKey: last } = await ask(from);
    // An empty page need not be the last one.
    from = last === undefined ? {} : { ExclusiveStartKey: last };
    yield rows;
  } while (from.ExclusiveStartKey !== undefined);
}
