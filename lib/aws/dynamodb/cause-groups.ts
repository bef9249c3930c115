import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { z } from "zod";
import { digestOf } from "../../core/digest.ts";
import { type CauseGroupKey, type CauseGroups, groupKeptMs } from "../../core/ports/cause-groups.ts";
import { AwsFault } from "../aws-fault.ts";
import { queryRows } from "./read-rows.ts";
import { keyOf, keyPart, numberOf, type Row, type RowKey, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { ttlAttribute } from "./table.ts";

/** A group as its row has it. */
const Group = z.object({
  opened: z.number(),
  isToldByCause: z.boolean(),
  root: z.object({ kind: z.string(), namespace: z.string(), name: z.string() }).exactOptional(),
  reasons: z.array(z.string()),
  seen: z.number(),
  sending: z.number().exactOptional(),
  over: z.number().exactOptional(),
});

const groupSortKey = "group";

/** One row for each group, and one for each object that waits in it: 200 concurrent objects do not wait for one row. */
export function dynamodbCauseGroups(table: StateTable): CauseGroups {
  const { name: TableName } = table;
  const read = async (key: RowKey, signal: AbortSignal): Promise<Row | undefined> => {
    const command = new GetItemCommand({ TableName, Key: keyOf(key), ConsistentRead: true });
    const { Item } = await table.call("GetItem", (client, options) => client.send(command, options), signal);
    return Item;
  };
  return {
    async get(key, now, signal) {
      const row = await read({ pk: partitionOf(key), sk: groupSortKey }, signal);
      // DynamoDB may remove expired rows late.
      if (row === undefined || numberOf(row, "until") <= now) return undefined;
      return { group: Group.parse(JSON.parse(textOf(row, "value"))), version: textOf(row, "by") };
    },
    async put(key, group, before, now, signal) {
      const by = randomUUID();
      const until = now + groupKeptMs;
      const [condition, value] =
        before === undefined
          ? (["attribute_not_exists(pk) OR #until <= :before", { N: String(now) }] as const)
          : (["#by = :before", { S: before }] as const);
      const command = new PutItemCommand({
        TableName,
        Item: {
          ...keyOf({ pk: partitionOf(key), sk: groupSortKey }),
          ...{ value: { S: JSON.stringify(group) }, by: { S: by }, until: { N: String(until) } },
          [ttlAttribute]: expiry(until),
        },
        ConditionExpression: condition,
        ExpressionAttributeNames: before === undefined ? { "#until": "until" } : { "#by": "by" },
        ExpressionAttributeValues: { ":before": value },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      try {
        await table.call("PutItem", (client, options) => client.send(command, options), signal);
        return by;
      } catch (error) {
        if (!(error instanceof AwsFault && error.cause instanceof ConditionalCheckFailedException)) throw error;
        // A write whose answer was lost recognises its own row.
        return error.cause.Item?.["by"]?.S === by ? by : undefined;
      }
    },
    async join(key, opened, waiting, now, signal) {
      const command = new PutItemCommand({
        TableName,
        Item: {
          ...keyOf({ pk: partitionOf(key), sk: waitingSortKey(opened, waiting) }),
          ...{ value: { S: waiting } },
          [ttlAttribute]: expiry(now + groupKeptMs),
        },
      });
      await table.call("PutItem", (client, options) => client.send(command, options), signal);
    },
    async hasJoined(key, opened, waiting, signal) {
      return (await read({ pk: partitionOf(key), sk: waitingSortKey(opened, waiting) }, signal)) !== undefined;
    },
    async waiting(key, opened, signal) {
      const query = {
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: {
          ":pk": { S: partitionOf(key) },
          ":prefix": { S: waitingPrefix(opened) },
        },
        ConsistentRead: true,
      };
      const rows = await queryRows(table, query, signal);
      return rows.map((row) => textOf(row, "value")).toSorted();
    },
  };
}

/** Two groups share no partition. */
function partitionOf({ cluster, alert, cause }: CauseGroupKey): string {
  const { kind, namespace, name } = cause;
  const parts = JSON.stringify([alert.namespace, alert.name, kind, namespace, name]);
  return `cause#${digestOf(parts).slice("sha256:".length)}#${keyPart(cluster)}`;
}

function waitingPrefix(opened: number): string {
  return `waits#${opened}#`;
}

function waitingSortKey(opened: number, waiting: string): string {
  return `${waitingPrefix(opened)}${keyPart(waiting)}`;
}

function expiry(until: number): { readonly N: string } {
  return { N: String(Math.floor(until / 1000)) };
}
