import { randomUUID } from "node:crypto";
import { DeleteTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createStateTable } from "../lib/aws/dynamodb/create-state-table.ts";
import { openDynamodbStores } from "../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../lib/aws/dynamodb/state-table.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { realAws } from "../test/contract/real-aws.ts";
import { type Consumed, consumedCapacity } from "./consumed-capacity.ts";
import { type Figure, figure, type Limit } from "./figure.ts";
import { type KustomizationUnderTest, kustomizationOnDynamodb } from "./kustomization-on-dynamodb.ts";

const sizes = [4, 200, 2_000];
/** The most that a warm process may take for an unchanged Kustomization, requested or at its interval. */
const limits: Readonly<Record<string, Consumed>> = {
  "unchanged, warm process": { reads: 2, writes: 3, readUnits: 2, writeUnits: 7 },
  "unchanged when due, warm process": { reads: 1, writes: 2, readUnits: 1, writeUnits: 4 },
};
const { signal } = new AbortController();

/**
 * What one reconcile of a Kustomization costs in the table, from the request to the end of its run, as DynamoDB counts it
 * (`ReturnConsumedCapacity`): the queue and the flow of an installation, on the embedded API server. Needs
 * `SLUICE_REAL_DYNAMODB` (`npm run real -- up`).
 */
export async function dynamodbCapacity(): Promise<readonly Figure[]> {
  const connection = realAws("DYNAMODB");
  if (connection === undefined) {
    process.stderr.write("dynamodbCapacity is left out: SLUICE_REAL_DYNAMODB names no DynamoDB (npm run real -- up)\n");
    return [];
  }
  const client = dynamodbClient(connection);
  const name = `sluice-bench-${randomUUID()}`;
  await createStateTable(client, name, signal);
  try {
    return await measure(client, name, connection.region);
  } finally {
    await client.send(new DeleteTableCommand({ TableName: name }));
    client.destroy();
  }
}

async function measure(client: DynamoDBClient, name: string, region: string): Promise<readonly Figure[]> {
  const open = () => openDynamodbStores({ client, name, region, clock: systemClock });
  const consumed = consumedCapacity(client);
  const figures: Figure[] = [];
  for (const size of sizes) {
    await using app = await kustomizationOnDynamodb(open, size);
    figures.push(...(await storyOf(size, app, consumed)));
  }
  return figures;
}

async function storyOf(size: number, app: KustomizationUnderTest, consumed: Consumed): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const count = async (what: string, reconcile: () => Promise<void>): Promise<void> => {
    const before = { ...consumed };
    await reconcile();
    const cost = (unit: keyof Consumed): number => consumed[unit] - before[unit];
    const most = limits[what];
    const atMost = (unit: keyof Consumed): Limit | undefined => most && { of: "max", atMost: most[unit] };
    const name = `state, ${size} objects, ${what}`;
    figures.push(
      figure(`${name}, reads`, "requests", [cost("reads")], atMost("reads")),
      figure(`${name}, writes`, "requests", [cost("writes")], atMost("writes")),
      figure(`${name}, reads`, "read units", [cost("readUnits")], atMost("readUnits")),
      figure(`${name}, writes`, "write units", [cost("writeUnits")], atMost("writeUnits")),
    );
  };
  const first = await app.publish("1", "1");
  await count("first apply, cold process", () => app.startProcess().reconcile(first));
  const second = await app.publish("2", "1");
  await count("one object changed, cold process", () => app.startProcess().reconcile(second));
  const third = await app.publish("3", "3");
  await count("all objects changed, cold process", () => app.startProcess().reconcile(third));
  const warm = app.startProcess();
  await count("unchanged, cold process", () => warm.reconcile(third));
  await count("unchanged, warm process", () => warm.reconcile(third));
  await count("unchanged when due, warm process", () => warm.reconcileWhenDue(third));
  return figures;
}
