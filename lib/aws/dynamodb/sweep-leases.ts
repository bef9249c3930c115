import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { SweepLeases } from "../../core/ports/sweep-leases.ts";
import { AwsFault } from "../aws-fault.ts";
import { keyOf, keyPart } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { ttlAttribute } from "./table.ts";

const keptMs = 24 * 3_600_000;

/** One row for each cluster, replaced by one conditional write. */
export function dynamodbSweepLeases(table: StateTable): SweepLeases {
  const { name: TableName, clock } = table;
  return {
    async take(cluster, holder, forMs, signal) {
      const now = clock.now();
      const Item = {
        ...keyOf({ pk: `cluster#${keyPart(cluster)}`, sk: "sweep" }),
        holder: { S: holder },
        until: { N: String(now + forMs) },
        [ttlAttribute]: { N: String(Math.floor((now + forMs + keptMs) / 1000)) },
      };
      const command = new PutItemCommand({
        TableName,
        Item,
        // A write whose answer was lost recognises its own row.
        ConditionExpression: "attribute_not_exists(pk) OR #until <= :now OR holder = :holder",
        ExpressionAttributeNames: { "#until": "until" },
        ExpressionAttributeValues: { ":now": { N: String(now) }, ":holder": { S: holder } },
      });
      try {
        await table.call("PutItem", (client, options) => client.send(command, options), signal);
        return true;
      } catch (error) {
        if (error instanceof AwsFault && error.code === "ConditionalCheckFailedException") return false;
        throw error;
      }
    },
  };
}
