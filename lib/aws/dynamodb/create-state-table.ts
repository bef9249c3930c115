import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { stateTable, ttlAttribute } from "./table.ts";

const maxWaitSeconds = 120;

/** Creates the table of {@link stateTable} under this name and waits until it is usable. For tests and stand-ins. */
export async function createStateTable(client: DynamoDBClient, name: string, signal: AbortSignal): Promise<void> {
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } = stateTable;
  const create = new CreateTableCommand({
    TableName: name,
    AttributeDefinitions: [...AttributeDefinitions],
    KeySchema: [...KeySchema],
    GlobalSecondaryIndexes: GlobalSecondaryIndexes.map((index) => ({ ...index, KeySchema: [...index.KeySchema] })),
    BillingMode,
  });
  const options = { abortSignal: signal };
  try {
    await client.send(create, options);
  } catch (error) {
    // An earlier try has created it, and its answer came too late.
    if (!(error instanceof ResourceInUseException && (error.$metadata.attempts ?? 1) > 1)) throw error;
  }
  await waitUntilTableExists(
    { client, maxWaitTime: maxWaitSeconds, minDelay: 1, abortSignal: signal },
    { TableName: name },
  );
  const expire = { AttributeName: ttlAttribute, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: expire }), options);
}
