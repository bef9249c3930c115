import { randomUUID } from "node:crypto";
import {
  BatchWriteItemCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type Update,
  type WriteRequest,
} from "@aws-sdk/client-dynamodb";
import { mapLimit } from "../../core/concurrency.ts";
import { type Fence, LeaseLost } from "../../core/ports/fence.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { AwsFault } from "../aws-fault.ts";
import { gaveUp, retryBudget } from "./retry-budget.ts";
import { keyOf, type Row, type RowKey, workRowKey } from "./rows.ts";
import type { StateTable } from "./state-table.ts";

/** The most items that one transaction takes. */
export const maxTransactItems = 100;

/** The most writes of one transaction besides the check of the lease. */
export const maxFencedWrites = maxTransactItems - 1;

/**
 * Does all of these writes, at most {@link maxFencedWrites}, or none, if the lease is held at that moment. Returns the writes whose
 * conditions failed.
 *
 * @param mark set on the row of the work item along with the writes, which costs no more than checking it
 * @throws LeaseLost if the lease is not held; nothing is written then
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
    throw new LeaseLost(`lease ${fence.token} of ${formatWorkKey(fence.key)} is no longer held`);
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

/** A write whose condition failed, with the row that it found if the write asked for it. */
export interface Refusal {
  /** The place of the write among those of the transaction. */
  readonly index: number;
  readonly found: Row | undefined;
}

/** Reasons to cancel a transaction that pass by themselves. */
const passing = new Set(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);

/**
 * Does all of these writes or none. A call whose answer was lost is repeated with the same token, so that it takes effect once. Returns the
 * writes whose conditions failed; none if all were done. Tries again if it met a concurrent write.
 */
async function transact(
  table: StateTable,
  writes: readonly TransactWriteItem[],
  signal: AbortSignal,
): Promise<readonly Refusal[]> {
  const budget = retryBudget(table.clock);
  for (let token = randomUUID(); ; ) {
    const command = new TransactWriteItemsCommand({ TransactItems: [...writes], ClientRequestToken: token });
    try {
      await table.call("TransactWriteItems", (client, options) => client.send(command, options), signal);
      return [];
    } catch (error) {
      const reasons = cancellation(error);
      if (reasons === undefined && !isUnderWay(error)) throw error;
      const refused = (reasons ?? []).flatMap(({ Code: code, Item: found }, index) =>
        code === "ConditionalCheckFailed" ? [{ index, found }] : [],
      );
      if (refused.length > 0) return refused;
      if (reasons?.every(({ Code: code = "" }) => !passing.has(code))) throw error;
      if (!(await budget.again(signal))) {
        throw gaveUp(table.name, "TransactWriteItems", "others write the same items", error);
      }
      // A cancelled transaction is over and gets a new token; one that is under way is asked about by its own.
      if (reasons !== undefined) token = randomUUID();
    }
  }
}

function cancellation(error: unknown): TransactionCanceledException["CancellationReasons"] {
  if (!(error instanceof AwsFault) || !(error.cause instanceof TransactionCanceledException)) return undefined;
  return error.cause.CancellationReasons;
}

function isUnderWay(error: unknown): boolean {
  return error instanceof AwsFault && error.code === "TransactionInProgressException";
}

/** The most writes that DynamoDB takes in one batch. */
const maxWrites = 25;
const concurrency = 4;

/** Puts or removes rows under different keys, in any order and unconditionally: only for rows that are not read yet, or no longer. */
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
