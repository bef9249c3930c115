import { DeleteItemCommand, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { ObservedResources } from "../../core/ports/observed-resources.ts";
import { formatWorkKey, parseWorkKey, type WorkKey } from "../../core/work-key.ts";
import { queryRows } from "./read-rows.ts";
import { keyOf, keyPart, type RowKey, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";

/** The summaries of all custom resources of a kind in a cluster are one partition, since they are listed together. */
export function dynamodbObservedResources(table: StateTable): ObservedResources {
  const { name: TableName } = table;
  return {
    async get(key, signal) {
      const command = new GetItemCommand({ TableName, Key: keyOf(rowKeyOf(key)), ConsistentRead: true });
      const { Item: item } = await table.call("GetItem", (client, options) => client.send(command, options), signal);
      return item === undefined ? undefined : textOf(item, "sighting");
    },
    async put(key, summary, signal) {
      const item = { ...keyOf(rowKeyOf(key)), key: { S: formatWorkKey(key) }, sighting: { S: summary } };
      const command = new PutItemCommand({ TableName, Item: item });
      await table.call("PutItem", (client, options) => client.send(command, options), signal);
    },
    async remove(key, signal) {
      const command = new DeleteItemCommand({ TableName, Key: keyOf(rowKeyOf(key)) });
      await table.call("DeleteItem", (client, options) => client.send(command, options), signal);
    },
    async list(kind, signal) {
      const query = {
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: kindPartition(kind) } },
      };
      const rows = await queryRows(table, query, signal);
      return rows.map((row) => ({ key: parseWorkKey(textOf(row, "key")), summary: textOf(row, "sighting") }));
    },
  };
}

function rowKeyOf(key: WorkKey): RowKey {
  return { pk: kindPartition(key), sk: keyPart(`${key.namespace}/${key.name}`) };
}

function kindPartition({ cluster, group, kind }: Pick<WorkKey, "cluster" | "group" | "kind">): string {
  return `seen#${keyPart(`${cluster}/${group}/${kind}`)}`;
}
