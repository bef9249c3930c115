import type { TransactWriteItem, Update } from "@aws-sdk/client-dynamodb";
import { type Fence, LeaseLost } from "../../core/ports/fence.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { keyOf } from "./attributes.ts";
import { workRowKey } from "./row-keys.ts";
import type { StateTable } from "./state-table.ts";
import { maxTransactItems, type Refusal, transact } from "./transact.ts";

/** Writes that one transaction takes besides the look at the lease. */
export const maxFencedWrites = maxTransactItems - 1;

/**
 * All of these writes, at most {@link maxFencedWrites}, or none, where the fence's lease is held at that very moment.
 * Answers the conditions of the writes that did not hold.
 *
 * @param mark set on the work item's row along with the writes, which costs no more than the look at it does
 * @throws LeaseLost where the lease is not held: nothing is written
 */
export async function fencedWrites(
  table: StateTable,
  fence: Fence,
  writes: readonly TransactWriteItem[],
  signal: AbortSignal,
  mark?: { readonly attribute: string; readonly value: string },
): Promise<readonly Refusal[]> {
  const refused = await transact(table, [lookAtLease(table, fence, mark), ...writes], signal);
  if (refused.some(({ index }) => index === 0)) {
    throw new LeaseLost(`lease ${fence.token} of ${formatWorkKey(fence.key)} is not held any more`);
  }
  return refused.map(({ index, found }) => ({ index: index - 1, found }));
}

function lookAtLease(
  { name }: StateTable,
  { key, token }: Fence,
  mark: { readonly attribute: string; readonly value: string } | undefined,
): TransactWriteItem {
  const row = { TableName: name, Key: keyOf(workRowKey(key)) };
  const names = { "#token": "token", "#holder": "holder" };
  const values = { ":token": { N: String(token) } };
  const condition = "#token = :token AND attribute_exists(#holder)";
  if (mark === undefined) {
    const check = { ExpressionAttributeNames: names, ExpressionAttributeValues: values };
    return { ConditionCheck: { ...row, ...check, ConditionExpression: condition } };
  }
  const update: Update = {
    ...row,
    UpdateExpression: "SET #mark = :mark",
    ConditionExpression: condition,
    ExpressionAttributeNames: { ...names, "#mark": mark.attribute },
    ExpressionAttributeValues: { ...values, ":mark": { S: mark.value } },
  };
  return { Update: update };
}
