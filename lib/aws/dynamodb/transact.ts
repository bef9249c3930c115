import { randomUUID } from "node:crypto";
import {
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { AwsFault } from "../aws-fault.ts";
import type { Row } from "./attributes.ts";
import { gaveUp } from "./gave-up.ts";
import { retryBudget } from "./retry-budget.ts";
import type { StateTable } from "./state-table.ts";

/** The most items that one transaction takes. */
export const maxTransactItems = 100;

/** A condition that did not hold, and the item as it was found where the write asked for it. */
export interface Refusal {
  /** The place of the write among those of the transaction. */
  readonly index: number;
  readonly found: Row | undefined;
}

/** Reasons to cancel a transaction that go away by themselves. */
const passing = new Set(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);

/**
 * All of these writes or none. A call whose answer was lost is repeated under the same token, so that it is done once.
 * Answers the conditions that did not hold, none where it was done. Tries again where another write was on its way.
 */
export async function transact(
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
      // A cancelled transaction is over; one that is under way must be asked about by its own name.
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
