import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { BusyProcess, ClusterHold, type ClusterStates, readRow } from "../../core/ports/cluster-states.ts";
import { queryRows } from "./read-rows.ts";
import { keyOf, keyPart, numberOf, type Row, type RowKey, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { ttlAttribute } from "./table.ts";

const holdSortKey = "hold";
const busyPrefix = "busy#";

/** Each is written again much sooner as long as it counts, so what expires is of a cluster or a process that is gone. */
const holdKeptMs = 24 * 3_600_000;
const busyKeptMs = 3_600_000;

/** A cluster's hold and its busy processes share one partition, which one query reads. */
export function dynamodbClusterStates(table: StateTable): ClusterStates {
  const { name: TableName, clock } = table;
  const put = async (key: RowKey, state: unknown, keptMs: number, signal: AbortSignal): Promise<void> => {
    const expires = { N: String(Math.floor((clock.now() + keptMs) / 1000)) };
    const Item = { ...keyOf(key), state: { S: JSON.stringify(state) }, [ttlAttribute]: expires };
    const command = new PutItemCommand({ TableName, Item });
    await table.call("PutItem", (client, options) => client.send(command, options), signal);
  };
  const remove = async (key: RowKey, signal: AbortSignal): Promise<void> => {
    const command = new DeleteItemCommand({ TableName, Key: keyOf(key) });
    await table.call("DeleteItem", (client, options) => client.send(command, options), signal);
  };
  return {
    async read(cluster, signal) {
      // At half the price of a consistent read: all of it is hints.
      const query = {
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: partitionOf(cluster) } },
      };
      const now = clock.now() / 1000;
      // DynamoDB may remove expired rows late.
      const rows = (await queryRows(table, query, signal)).filter((row) => numberOf(row, ttlAttribute) > now);
      const hold = rows.find((row) => textOf(row, "sk") === holdSortKey);
      return {
        hold: hold && readRow(ClusterHold, textOf(hold, "state")),
        busy: rows.filter(isBusy).flatMap((row) => readRow(BusyProcess, textOf(row, "state")) ?? []),
      };
    },
    hold: (cluster, hold, signal) => put(holdKey(cluster), hold, holdKeptMs, signal),
    release: (cluster, signal) => remove(holdKey(cluster), signal),
    setBusy: (cluster, busy, signal) => put(busyKey(cluster, busy.process), busy, busyKeptMs, signal),
    removeBusy: (cluster, process, signal) => remove(busyKey(cluster, process), signal),
  };
}

function isBusy(row: Row): boolean {
  return textOf(row, "sk").startsWith(busyPrefix);
}

function partitionOf(cluster: string): string {
  return `cluster#${keyPart(cluster)}`;
}

function holdKey(cluster: string): RowKey {
  return { pk: partitionOf(cluster), sk: holdSortKey };
}

function busyKey(cluster: string, process: string): RowKey {
  return { pk: partitionOf(cluster), sk: `${busyPrefix}${keyPart(process)}` };
}
