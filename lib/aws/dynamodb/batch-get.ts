import { BatchGetItemCommand, type BatchGetItemCommandOutput, type KeysAndAttributes } from "@aws-sdk/client-dynamodb";
import { keyOf, type Row, type RowKey } from "./attributes.ts";
import { gaveUp } from "./gave-up.ts";
import { retryBudget } from "./retry-budget.ts";
import type { StateTable } from "./state-table.ts";

/** The most that DynamoDB takes in one call. */
const maxKeys = 100;

/**
 * The items of these different keys, in no order; those that are not there are left out.
 *
 * @param consistent false: at half the price, and what was written just now may be missing
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
      // What is over 16 MB or over the table's throughput is left for another call.
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
