import { DeleteItemCommand, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { Sightings } from "../../core/ports/sightings.ts";
import { formatWorkKey, parseWorkKey, type WorkKey } from "../../core/work-key.ts";
import { keyOf, type RowKey, textOf } from "./attributes.ts";
import { queryRows } from "./query-rows.ts";
import { keyPart } from "./row-keys.ts";
import type { StateTable } from "./state-table.ts";

/** What was last seen of each custom resource, all of one kind and cluster in one partition: they are listed together. */
export function dynamodbSightings(table: StateTable): Sightings {
  const { name: TableName } = table;
  return {
    async get(key, signal) {
      const command = new GetItemCommand({ TableName, Key: keyOf(sightingKey(key)), ConsistentRead: true });
      const { Item: item } = await table.call("GetItem", (client, options) => client.send(command, options), signal);
      return item === undefined ? undefined : textOf(item, "sighting");
    },
    async put(key, sighting, signal) {
      const item = { ...keyOf(sightingKey(key)), key: { S: formatWorkKey(key) }, sighting: { S: sighting } };
      const command = new PutItemCommand({ TableName, Item: item });
      await table.call("PutItem", (client, options) => client.send(command, options), signal);
    },
    async remove(key, signal) {
      const command = new DeleteItemCommand({ TableName, Key: keyOf(sightingKey(key)) });
      await table.call("DeleteItem", (client, options) => client.send(command, options), signal);
    },
    async list(kind, signal) {
      const query = {
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: kindPartition(kind) } },
      };
      const rows = await queryRows(table, query, signal);
      return rows.map((row) => ({ key: parseWorkKey(textOf(row, "key")), sighting: textOf(row, "sighting") }));
    },
  };
}

function sightingKey(key: WorkKey): RowKey {
  return { pk: kindPartition(key), sk: keyPart(`${key.namespace}/${key.name}`) };
}

function kindPartition({ cluster, group, kind }: Pick<WorkKey, "cluster" | "group" | "kind">): string {
  return `seen#${keyPart(`${cluster}/${group}/${kind}`)}`;
}
