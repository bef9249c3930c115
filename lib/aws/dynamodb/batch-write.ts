import { BatchWriteItemCommand, type WriteRequest } from "@aws-sdk/client-dynamodb";
import { mapLimit } from "../../core/map-limit.ts";
import { keyOf, type Row, type RowKey } from "./attributes.ts";
import { gaveUp } from "./gave-up.ts";
import { retryBudget } from "./retry-budget.ts";
import type { StateTable } from "./state-table.ts";

/** The most that DynamoDB takes in one call. */
const maxWrites = 25;
const concurrency = 4;

/** Puts or removes items under different keys, in any order and without any condition: only for what nobody reads yet or still. */
export async function batchWrite(
  table: StateTable,
  writes: { readonly puts?: readonly Row[]; readonly deletes?: readonly RowKey[] },
  signal: AbortSignal,
): Promise<void> {
  const requests: WriteRequest[] = [
    ...(writes.puts ?? []).map((row) => ({ PutRequest: { Item: row } })),
    ...(writes.deletes ?? []).map((key) => ({ DeleteRequest: { Key: keyOf(key) } })),
  ];
  const batches = Array.from({ length: Math.ceil(requests.length / maxWrites) }, (_, index) =>
    requests.slice(index * maxWrites, (index + 1) * maxWrites),
  );
  await mapLimit(batches, concurrency, (batch, stop) => writeAll(table, batch, stop), signal);
}

async function writeAll(table: StateTable, batch: readonly WriteRequest[], signal: AbortSignal): Promise<void> {
  const budget = retryBudget(table.clock);
  for (let left: readonly WriteRequest[] = batch; left.length > 0; ) {
    const command = new BatchWriteItemCommand({ RequestItems: { [table.name]: [...left] } });
    const { UnprocessedItems: unprocessed } = await table.call(
      "BatchWriteItem",
      (client, options) => client.send(command, options),
      signal,
    );
    left = unprocessed?.[table.name] ?? [];
    if (left.length > 0 && !(await budget.again(signal))) {
      throw gaveUp(table.name, "BatchWriteItem", `${left.length} items were left over`);
    }
  }
}
