import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { orAborted } from "../../core/or-aborted.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { checkLayout } from "./check-layout.ts";
import { gaveUp } from "./gave-up.ts";
import { LayoutError } from "./layout-error.ts";
import { retryBudget } from "./retry-budget.ts";
import type { TableCall } from "./table-call.ts";

/** The table and the way to it. */
export interface StateTable {
  readonly client: DynamoDBClient;
  readonly name: string;
  readonly region: string;
  /** Whose it is, for messages. */
  readonly account?: string | undefined;
  readonly clock: Clock;
  /**
   * Looks first, once, whether the table's layout is ours.
   *
   * @throws AwsFault where AWS says no, {@link LayoutError} where the table is not as this version of Sluice makes it
   */
  readonly call: TableCall;
}

/** Opens nothing: the first call does. */
export function openStateTable(of: Omit<StateTable, "call">): StateTable {
  const { client, name: tableName, region, account } = of;
  let layout: Promise<void> | undefined;

  const callOnce: TableCall = async (name, send, signal) => {
    const action = { name: `dynamodb:${name}`, resource: `table ${tableName}`, region, account };
    try {
      return await callAws(action, (options) => send(client, options), signal);
    } catch (error) {
      if (error instanceof AwsFault && isOfAnotherLayout(error)) {
        throw new LayoutError(tableName, `its keys or its index are other ones (${error.message})`, { cause: error });
      }
      throw error;
    }
  };

  const callUnchecked: TableCall = async (name, send, signal) => {
    const budget = retryBudget(of.clock);
    for (;;) {
      try {
        return await callOnce(name, send, signal);
      } catch (error) {
        // A transaction is at work on the item at the moment.
        if (!(error instanceof AwsFault && error.code === "TransactionConflictException")) throw error;
        if (!(await budget.again(signal))) throw gaveUp(tableName, name, "others write the same item", error);
      }
    }
  };

  /** One look a process, which no caller's giving up ends for the others. One that failed is no answer. */
  const checked = async (signal: AbortSignal): Promise<void> => {
    const look = (layout ??= checkLayout(tableName, callUnchecked, new AbortController().signal));
    try {
      await orAborted(look, signal);
    } catch (error) {
      if (!signal.aborted && layout === look) layout = undefined;
      throw error;
    }
  };

  return {
    ...of,
    async call(name, send, signal) {
      await checked(signal);
      return callUnchecked(name, send, signal);
    },
  };
}

/** What DynamoDB says of a request that does not fit the table: it names the table's own schema or index. */
const layoutWords = [
  "does not have the specified index",
  "does not match the schema",
  "number of conditions on the keys is invalid",
  "Missing the key",
  "missed key schema element",
  "not part of the key",
];

function isOfAnotherLayout({ code, message }: AwsFault): boolean {
  return code === "ValidationException" && layoutWords.some((words) => message.includes(words));
}
