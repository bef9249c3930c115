import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { type EventWindows, forgottenMs, nextWindow } from "../../core/ports/event-windows.ts";
import { AwsFault } from "../aws-fault.ts";
import { keyOf, keyPart, numberOf, type Row, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { ttlAttribute } from "./table.ts";

/** One row for each key and cluster, replaced by one conditional write: a second write only if a new window follows. */
export function dynamodbEventWindows(table: StateTable): EventWindows {
  const { name: TableName } = table;
  const rowOf = (cluster: string, key: string) => keyOf({ pk: `event#${key}#${keyPart(cluster)}`, sk: "window" });
  return {
    async covers(cluster, key, now, signal) {
      const command = new GetItemCommand({ TableName, Key: rowOf(cluster, key), ConsistentRead: true });
      const { Item } = await table.call("GetItem", (client, options) => client.send(command, options), signal);
      return Item !== undefined && nextWindow(numberOf(Item, "started"), now) === undefined;
    },
    async take(cluster, key, now, signal) {
      const row = rowOf(cluster, key);
      const by = randomUUID();
      const put = async (startedAt: number, condition: string, at: number): Promise<Row | undefined> => {
        const command = new PutItemCommand({
          TableName,
          Item: {
            ...row,
            started: { N: String(startedAt) },
            by: { S: by },
            [ttlAttribute]: { N: String(Math.floor((startedAt + forgottenMs) / 1000)) },
          },
          ConditionExpression: condition,
          ExpressionAttributeValues: { ":at": { N: String(at) } },
          ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        });
        try {
          await table.call("PutItem", (client, options) => client.send(command, options), signal);
          return undefined;
        } catch (error) {
          if (!(error instanceof AwsFault && error.cause instanceof ConditionalCheckFailedException)) throw error;
          return error.cause.Item ?? {};
        }
      };
      const last = await put(now, "attribute_not_exists(pk) OR started <= :at", now - forgottenMs);
      if (last === undefined) return true;
      // A write whose answer was lost recognises its own row.
      if (textOf(last, "by") === by) return true;
      const started = numberOf(last, "started");
      const next = nextWindow(started, now);
      if (next === undefined) return false;
      const other = await put(next, "started = :at", started);
      return other === undefined || other["by"]?.S === by;
    },
  };
}
