import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DynamodbFault, faultyDynamodb } from "../doubles/faulty-dynamodb.ts";
import type { FaultyWire } from "../doubles/faulty-wire.ts";
import { type LaggingDynamodb, laggingDynamodb } from "../doubles/lagging-dynamodb.ts";
import { causeGroupsContract } from "./cause-groups.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { dynamodbInventoryContract } from "./dynamodb-inventory.ts";
import { eventWindowsContract } from "./event-windows.ts";
import { stateContracts } from "./state-contracts.ts";
import { wireFaults } from "./wire-faults.ts";

/** What DynamoDB Local cannot show: reads that are as old as they may be. And what needs no part shows more at once. */
const name = "DynamoDB that lags behind";
let table: LaggingDynamodb;
beforeAll(async () => {
  table = await laggingDynamodb();
});
afterAll(() => table[Symbol.asyncDispose]());

const connection = () => ({
  region: "eu-west-1",
  endpoint: table.url,
  credentials: { accessKeyId: "x", secretAccessKey: "y" },
});
for (const contract of [...stateContracts, eventWindowsContract, causeGroupsContract])
  contract(name, () => newDynamodb(connection()));
dynamodbInventoryContract(name, connection);

describe("with partial batches, conflicting transactions and lost answers", () => {
  const rates = [
    ["leftOver", 0.3],
    ["conflict", 0.05],
    ["lost", 0.03],
  ] as const satisfies readonly (readonly [DynamodbFault, number])[];
  const { of: faultOf, met } = wireFaults<DynamodbFault>(rates, 1);
  let wire: FaultyWire;
  beforeAll(async () => {
    wire = await faultyDynamodb(table.url, faultOf);
  });
  afterAll(() => wire[Symbol.asyncDispose]());
  for (const contract of stateContracts) contract(name, () => newDynamodb(connection(), { endpoint: wire.url }));

  test("every fault has occurred", () => {
    expect([...met].toSorted()).toEqual(rates.map(([fault]) => fault).toSorted());
  });
});
