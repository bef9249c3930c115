import { QueryCommand, type QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { Row } from "./attributes.ts";
import type { StateTable } from "./state-table.ts";

/** What is asked of one partition; `Limit` is of a page, `maxRows` of the whole answer. */
export type PartitionQuery = Omit<QueryCommandInput, "TableName" | "ExclusiveStartKey">;

/** The items that a query finds, in its order, all pages up to `maxRows`. */
export async function queryRows(
  table: StateTable,
  query: PartitionQuery,
  signal: AbortSignal,
  maxRows = Number.POSITIVE_INFINITY,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let from: QueryCommandInput["ExclusiveStartKey"];
  do {
    const command = new QueryCommand({
      ...query,
      TableName: table.name,
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    const page = await table.call("Query", (client, options) => client.send(command, options), signal);
    rows.push(...(page.Items ?? []));
    // A page may be empty and not the last.
    from = page.LastEvaluatedKey;
  } while (from !== undefined && rows.length < maxRows);
  return rows.slice(0, maxRows);
}
