import { randomUUID } from "node:crypto";
import { DeleteTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { createStateTable } from "../../lib/aws/dynamodb/create-state-table.ts";
import { type DynamodbStores, openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/state-table.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { deadlineMs } from "../deadline.ts";
import { interruption, never, type StateBackEnd } from "./state-back-end.ts";

/** A new table and the stores on it; `reach` says over which address the stores reach it, and after how long they give up a try. */
export async function newDynamodb(
  connection: AwsConnection,
  reach: Pick<AwsConnection, "endpoint" | "attemptTimeoutMs"> = {},
): Promise<StateBackEnd & DynamodbStores & { readonly name: string; readonly client: DynamoDBClient }> {
  const name = `sluice-${randomUUID()}`;
  // DynamoDB Local does one thing at a time: a second try of the same call would find its own work done.
  const patient = { ...connection, attemptTimeoutMs: deadlineMs };
  const direct = dynamodbClient(patient);
  await createStateTable(direct, name, never);
  const client = dynamodbClient({ ...patient, ...reach });
  const stores = openDynamodbStores({ client, name, region: connection.region, clock: systemClock });
  return {
    ...stores,
    name,
    client,
    interruptedAfter: (writes) => interruptedAfter(client, writes),
    async close() {
      await direct.send(new DeleteTableCommand({ TableName: name }));
      for (const one of [client, direct]) one.destroy();
    },
  };
}

function interruptedAfter(client: DynamoDBClient, writes: number): AbortSignal {
  const control = new AbortController();
  let made = 0;
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (call) => {
        const answer = await next(call);
        if (/Write|Put|Update|Delete/.test(commandName)) made += 1;
        if (made === writes) control.abort(interruption);
        return answer;
      },
    { step: "initialize" },
  );
  return control.signal;
}
