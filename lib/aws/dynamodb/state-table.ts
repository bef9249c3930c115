import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { orAborted } from "../../core/concurrency.ts";
import type { Layout } from "../../core/layout.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { gaveUp, retryBudget } from "./retry-budget.ts";
import { checkLayout, LayoutError, type TableCall, tableLayout, type UpgradedTable } from "./table-layout.ts";

/** Rows are small: a try that takes longer than this has reached a host that is being replaced. */
const attemptTimeoutMs = 3_000;

export function dynamodbClient(connection: AwsConnection): DynamoDBClient {
  return new DynamoDBClient(clientConfig(connection, attemptTimeoutMs));
}

/** The table and the client to reach it. */
export interface StateTable {
  readonly client: DynamoDBClient;
  readonly name: string;
  readonly region: string;
  /** Its account, for messages. */
  readonly account?: string | undefined;
  readonly clock: Clock;
  /** That of this release by default. */
  readonly layout?: Layout<UpgradedTable>;
  /**
   * Checks once, before the first call, whether the table's layout is ours, and upgrades that of an earlier release.
   *
   * @throws AwsFault if AWS answers an error, {@link LayoutError} if a newer release wrote the table, or if its keys are others
   */
  readonly call: TableCall;
}

/** Opens no connection before the first call. */
export function openStateTable(of: Omit<StateTable, "call">): StateTable {
  const { client, name: tableName, region, account, layout: own = tableLayout } = of;
  let layout: Promise<void> | undefined;

  const callOnce: TableCall = async (name, send, signal) => {
    const action = { name: `dynamodb:${name}`, resource: `table ${tableName}`, region, account };
    try {
      return await callAws(action, (options) => send(client, options), signal);
    } catch (error) {
      if (error instanceof AwsFault && isOfAnotherLayout(error)) {
        throw new LayoutError(tableName, `its keys or its index differ (${error.message})`, { cause: error });
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
        // A transaction is changing the row at the moment.
        if (!(error instanceof AwsFault && error.code === "TransactionConflictException")) throw error;
        if (!(await budget.again(signal))) throw gaveUp(tableName, name, "others write the same item", error);
      }
    }
  };

  /** One check for each process, shared by all callers; a caller that gives up does not stop it. A check that failed is repeated. */
  const checked = async (signal: AbortSignal): Promise<void> => {
    const look = (layout ??= checkLayout({ name: tableName, call: callUnchecked }, own, new AbortController().signal));
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

/** DynamoDB's messages about a request that does not fit the table's schema or index. */
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
