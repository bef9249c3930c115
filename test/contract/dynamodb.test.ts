import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultyDynamodb } from "../doubles/faulty-dynamodb.ts";
import type { FaultyWire } from "../doubles/faulty-wire.ts";
import { clusterStatesContract } from "./cluster-states.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { dynamodbFaults } from "./dynamodb-faults.ts";
import { interruptedCallsContract } from "./interrupted-calls.ts";
import { observedResourcesContract } from "./observed-resources.ts";
import { realAws } from "./real-aws.ts";
import { stateContracts } from "./state-contracts.ts";
import { sweepLeasesContract } from "./sweep-leases.ts";
import { wireFaults } from "./wire-faults.ts";

const connection = realAws("DYNAMODB");
const contracts = [...stateContracts, observedResourcesContract, clusterStatesContract, sweepLeasesContract];

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  const of = connection ?? { region: "" };
  // An interruption is a fault of its own.
  for (const contract of [...contracts, interruptedCallsContract]) contract("DynamoDB", () => newDynamodb(of));

  describe("over a connection with every fault", () => {
    let wire: FaultyWire;
    const { of: faultOf, met } = wireFaults(dynamodbFaults, 1);
    beforeAll(async () => {
      wire = await faultyDynamodb(of.endpoint ?? "", faultOf);
    });
    afterAll(() => wire[Symbol.asyncDispose]());
    // What gets no answer is given up as soon as in Lambda.
    const open = () => newDynamodb(of, { endpoint: wire.url, attemptTimeoutMs: undefined });
    for (const contract of contracts) contract("DynamoDB", open);

    test("every fault has happened", () => {
      expect([...met].toSorted()).toEqual(dynamodbFaults.map(([fault]) => fault).toSorted());
    });
  });
});
