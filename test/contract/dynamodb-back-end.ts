import { randomUUID } from "node:crypto";
import { DeleteTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { createStateTable } from "../../lib/aws/dynamodb/create-state-table.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/dynamodb-client.ts";
import { type DynamodbStores, openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { never } from "./state-back-end.ts";

/** A new table and the stores on it; `reach` says over which address and with how much patience the stores reach it. */
export async function newDynamodb(
  connection: AwsConnection,
  reach: { readonly endpoint?: string; readonly attemptTimeoutMs?: number } = {},
): Promise<DynamodbStores & { name: string; client: DynamoDBClient; close(): Promise<void> }> {
  const name = `sluice-${randomUUID()}`;
  const direct = dynamodbClient(connection);
  await createStateTable(direct, name, never);
  const { endpoint = connection.endpoint, attemptTimeoutMs } = reach;
  const client = dynamodbClient({ ...connection, endpoint }, attemptTimeoutMs);
  const stores = openDynamodbStores({ client, name, region: connection.region, clock: systemClock });
  return {
    ...stores,
    name,
    client,
    async close() {
      await direct.send(new DeleteTableCommand({ TableName: name }));
      for (const one of [client, direct]) one.destroy();
    },
  };
}
