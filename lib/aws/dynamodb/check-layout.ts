import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { AwsFault } from "../aws-fault.ts";
import { LayoutError } from "./layout-error.ts";
import { layoutVersion } from "./table.ts";
import type { TableCall } from "./table-call.ts";

const layoutKey = { pk: { S: "layout" }, sk: { S: "layout" } };

/** Reads the version of the table's layout, and writes ours into a table that has none yet. Throws for another. */
export async function checkLayout(table: string, call: TableCall, signal: AbortSignal): Promise<void> {
  const found = (await readVersion(table, call, signal)) ?? (await writeVersion(table, call, signal));
  if (found !== String(layoutVersion)) throw new LayoutError(table, `it has layout ${found}`);
}

async function readVersion(table: string, call: TableCall, signal: AbortSignal): Promise<string | undefined> {
  const command = new GetItemCommand({ TableName: table, Key: layoutKey, ConsistentRead: true });
  const { Item: item } = await call("GetItem", (client, options) => client.send(command, options), signal);
  return item === undefined ? undefined : (item["version"]?.N ?? "without a number");
}

async function writeVersion(table: string, call: TableCall, signal: AbortSignal): Promise<string | undefined> {
  const command = new PutItemCommand({
    TableName: table,
    Item: { ...layoutKey, version: { N: String(layoutVersion) } },
    ConditionExpression: "attribute_not_exists(pk)",
  });
  try {
    await call("PutItem", (client, options) => client.send(command, options), signal);
    return String(layoutVersion);
  } catch (error) {
    if (!(error instanceof AwsFault && error.code === "ConditionalCheckFailedException")) throw error;
    return readVersion(table, call, signal);
  }
}
