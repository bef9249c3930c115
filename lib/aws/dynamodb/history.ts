import { randomUUID } from "node:crypto";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { type History, HistoryRecord } from "../../core/ports/history.ts";
import { queryRows } from "./read-rows.ts";
import { keyOf, numberOf, objectPartition, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { ttlAttribute } from "./table.ts";

const keptMs = 30 * 24 * 3_600_000;
/** All times in keys have this many digits, so that they sort as numbers do. */
const timeDigits = 15;
const prefix = "hist#";

/** Finished reconciles, kept for 30 days. */
export function dynamodbHistory(table: StateTable): History {
  return {
    async append(key, record, signal) {
      const time = String(Math.max(0, Math.floor(record.at))).padStart(timeDigits, "0");
      const command = new PutItemCommand({
        TableName: table.name,
        Item: {
          ...keyOf({ pk: objectPartition(key), sk: `${prefix}${time}#${randomUUID()}` }),
          record: { S: JSON.stringify(record) },
          [ttlAttribute]: { N: String(Math.floor((table.clock.now() + keptMs) / 1000)) },
        },
      });
      await table.call("PutItem", (client, options) => client.send(command, options), signal);
    },
    async latest(key, limit, signal) {
      const query = {
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: { ":pk": { S: objectPartition(key) }, ":prefix": { S: prefix } },
        ScanIndexForward: false,
        ConsistentRead: true,
        Limit: limit,
      };
      const rows = await queryRows(table, query, signal, limit);
      // DynamoDB may remove expired rows late.
      const nowSeconds = table.clock.now() / 1000;
      return rows
        .filter((row) => numberOf(row, ttlAttribute) > nowSeconds)
        .map((row) => HistoryRecord.parse(JSON.parse(textOf(row, "record"))));
    },
  };
}
