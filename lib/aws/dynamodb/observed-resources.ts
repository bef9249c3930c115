import { DeleteItemCommand, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { ObservedResource, ObservedResources } from "../../core/ports/observed-resources.ts";
import { formatWorkKey, parseWorkKey, type WorkKey } from "../../core/work-key.ts";
import { AwsFault } from "../aws-fault.ts";
import { queryRows } from "./read-rows.ts";
import { keyOf, keyPart, numberOf, type Row, type RowKey, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";

/** The summaries of all custom resources of a kind in a cluster are one partition, since they are listed together. */
export function dynamodbObservedResources(table: StateTable): ObservedResources {
  const { name: TableName } = table;
  const update = async (
    key: WorkKey,
    UpdateExpression: string,
    ExpressionAttributeValues: Row,
    signal: AbortSignal,
  ): Promise<void> => {
    const command = new UpdateItemCommand({
      ...{ TableName, Key: keyOf(rowKeyOf(key)), UpdateExpression, ExpressionAttributeValues },
      ExpressionAttributeNames: { "#key": "key" },
    });
    await table.call("UpdateItem", (client, options) => client.send(command, options), signal);
  };
  return {
    async get(key, signal) {
      const command = new GetItemCommand({ TableName, Key: keyOf(rowKeyOf(key)), ConsistentRead: true });
      const { Item: item } = await table.call("GetItem", (client, options) => client.send(command, options), signal);
      return item?.["sighting"] === undefined ? undefined : textOf(item, "sighting");
    },
    async put(key, summary, signal) {
      // An update: the mark of an object that is not Ready stays.
      const values = { ":key": { S: formatWorkKey(key) }, ":sighting": { S: summary } };
      await update(key, "SET #key = :key, sighting = :sighting", values, signal);
    },
    async markNotReady(key, { since, outcome }, signal) {
      const set = "SET #key = :key, notReadySince = if_not_exists(notReadySince, :since), notReadyOutcome = :outcome";
      const values = {
        ":key": { S: formatWorkKey(key) },
        ":since": { N: String(since) },
        ":outcome": { S: outcome },
      };
      await update(key, set, values, signal);
    },
    async markReady(key, signal) {
      const command = new UpdateItemCommand({
        ...{ TableName, Key: keyOf(rowKeyOf(key)) },
        UpdateExpression: "REMOVE notReadySince, notReadyOutcome",
        // The row of an object that is gone is not made again.
        ConditionExpression: "attribute_exists(pk)",
      });
      try {
        await table.call("UpdateItem", (client, options) => client.send(command, options), signal);
      } catch (error) {
        if (!(error instanceof AwsFault && error.code === "ConditionalCheckFailedException")) throw error;
      }
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
      return rows.map(observedOf);
    },
  };
}

function observedOf(row: Row): ObservedResource {
  const key = parseWorkKey(textOf(row, "key"));
  const summary = row["sighting"] === undefined ? undefined : textOf(row, "sighting");
  if (row["notReadySince"] === undefined) return { key, summary };
  return { key, summary, notReady: { since: numberOf(row, "notReadySince"), outcome: textOf(row, "notReadyOutcome") } };
}

function rowKeyOf(key: WorkKey): RowKey {
  return { pk: kindPartition(key), sk: keyPart(`${key.namespace}/${key.name}`) };
}

function kindPartition({ cluster, group, kind }: Pick<WorkKey, "cluster" | "group" | "kind">): string {
  return `seen#${keyPart(`${cluster}/${group}/${kind}`)}`;
}
