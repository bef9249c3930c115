import { type DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { judgeLayout, type Layout, upgradeLayout } from "../../core/layout.ts";
import { ownVersion } from "../../core/own-version.ts";
import { PortError } from "../../core/ports/port-error.ts";
import { AwsFault } from "../aws-fault.ts";

/** Sends a command with the client, under an abort signal. */
type Send<Result> = (client: DynamoDBClient, options: { readonly abortSignal: AbortSignal }) => Promise<Result>;

/** One call to the table, under the signal and within a time limit. `name` is that of the action: `GetItem`. */
export type TableCall = <Result>(name: string, send: Send<Result>, signal: AbortSignal) => Promise<Result>;

/** The parts that an upgrade of the table uses. */
export interface UpgradedTable {
  readonly name: string;
  readonly call: TableCall;
}

/** Of this release. */
export const tableLayout: Layout<UpgradedTable> = { version: 1, upgrades: {} };

const layoutKey = { pk: { S: "layout" }, sk: { S: "layout" } };

/** The version of a table's layout and the release that wrote it, as the table says. */
interface FoundLayout {
  readonly version: number;
  readonly by: string | undefined;
}

/** Reads the version of the table's layout, writes ours into a table without one, and upgrades an older one. */
export async function checkLayout(
  table: UpgradedTable,
  own: Layout<UpgradedTable>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const found = await readLayout(table, signal);
    const judged = found === undefined ? "absent" : judgeLayout(found.version, own);
    switch (judged) {
      case "ours":
        return;
      case "newer":
        throw new LayoutError(table.name, newerThan(own.version, found));
      case "absent":
        // Another process may be first; then what it has written is read.
        if (await writeLayout(table, undefined, own.version, signal)) return;
        break;
      case "older":
        await upgradeLayout(found?.version ?? 0, own, table, async (version) => {
          await writeLayout(table, version - 1, version, signal);
        });
    }
  }
}

function newerThan(known: number, found: FoundLayout | undefined): string {
  const by = found?.by === undefined ? "a newer Sluice" : `Sluice ${found.by}, which is newer`;
  return `it was written by ${by} (layout ${found?.version}; this is Sluice ${ownVersion}, which knows ${known})`;
}

async function readLayout({ name, call }: UpgradedTable, signal: AbortSignal): Promise<FoundLayout | undefined> {
  const command = new GetItemCommand({ TableName: name, Key: layoutKey, ConsistentRead: true });
  const { Item: item } = await call("GetItem", (client, options) => client.send(command, options), signal);
  if (item === undefined) return undefined;
  const version = Number(item["version"]?.N);
  if (!Number.isSafeInteger(version)) throw new LayoutError(name, "its version is not a number");
  return { version, by: item["by"]?.S };
}

/** Whether it was written: not if another process has changed the version meanwhile. */
async function writeLayout(
  { name, call }: UpgradedTable,
  before: number | undefined,
  version: number,
  signal: AbortSignal,
): Promise<boolean> {
  const command = new PutItemCommand({
    TableName: name,
    Item: { ...layoutKey, version: { N: String(version) }, by: { S: ownVersion } },
    ...(before === undefined
      ? { ConditionExpression: "attribute_not_exists(pk)" }
      : {
          ConditionExpression: "#version = :before",
          ExpressionAttributeNames: { "#version": "version" },
          ExpressionAttributeValues: { ":before": { N: String(before) } },
        }),
  });
  try {
    await call("PutItem", (client, options) => client.send(command, options), signal);
    return true;
  } catch (error) {
    if (!(error instanceof AwsFault && error.code === "ConditionalCheckFailedException")) throw error;
    return false;
  }
}

/** The table exists with another layout than this release needs. Nothing was written to it. */
export class LayoutError extends PortError<"other-layout"> {
  override readonly name = "LayoutError";

  constructor(table: string, why: string, options?: ErrorOptions) {
    const mend = `run the release of Sluice that wrote it or a later one, or restore a backup from before; a new installation needs a table of its own`;
    super("other-layout", `table ${table} has another layout: ${why}; ${mend}`, options);
  }
}
