import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DynamodbFault, faultyDynamodb, type SeenRequest } from "../doubles/faulty-dynamodb.ts";
import type { FaultyWire } from "../doubles/faulty-wire.ts";
import { random } from "../unit/queue/simulator/random.ts";
import { artifactRecordsContract } from "./artifact-records.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { edgesContract } from "./edges.ts";
import { historyContract } from "./history.ts";
import { inventoryStoreContract } from "./inventory-store.ts";
import { ledgerContract } from "./ledger.ts";
import { realAws } from "./real-aws.ts";
import { sightingsContract } from "./sightings.ts";
import { workItemsContract } from "./work-items.ts";

const connection = realAws("DYNAMODB");
const contracts = [
  workItemsContract,
  edgesContract,
  inventoryStoreContract,
  ledgerContract,
  artifactRecordsContract,
  historyContract,
  sightingsContract,
];

/** The machine is shared by many, and DynamoDB Local does one thing at a time. */
const timeout = 120_000;

/** One request in so many meets each fault; two of one call at most, so that every call comes through in the end. */
const rates: readonly (readonly [DynamodbFault, number])[] = [
  ["throttled", 0.02],
  ["broken", 0.02],
  ["dropped", 0.03],
  ["lost", 0.04],
  ["silent", 0.002],
  ["conflict", 0.05],
  ["leftOver", 0.3],
];

function faults(seed: number): {
  readonly met: ReadonlySet<DynamodbFault>;
  readonly of: (request: SeenRequest) => DynamodbFault | undefined;
} {
  const chance = random(seed);
  const met = new Set<DynamodbFault>();
  return {
    met,
    of: ({ attempt }) => {
      if (attempt > 2) return undefined;
      const fault = rates.find(([, rate]) => chance.chance(rate))?.[0];
      if (fault !== undefined) met.add(fault);
      return fault;
    },
  };
}

describe.skipIf(connection === undefined)(
  "where SLUICE_REAL_DYNAMODB names one (npm run real -- up)",
  { timeout },
  () => {
    const of = connection ?? { region: "" };
    for (const contract of contracts) contract("DynamoDB", () => newDynamodb(of));

    describe("over a wire on which every fault happens", () => {
      let wire: FaultyWire;
      const { of: faultOf, met } = faults(1);
      beforeAll(async () => {
        wire = await faultyDynamodb(of.endpoint ?? "", faultOf);
      });
      afterAll(() => wire[Symbol.asyncDispose]());
      const open = () => newDynamodb(of, { endpoint: wire.url });
      for (const contract of contracts) contract("DynamoDB", open);

      test("every fault has happened", () => {
        expect([...met].toSorted()).toEqual(rates.map(([fault]) => fault).toSorted());
      });
    });
  },
);
