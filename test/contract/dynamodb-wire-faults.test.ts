import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultyDynamodb } from "../doubles/faulty-dynamodb.ts";
import type { FaultyWire } from "../doubles/faulty-wire.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { dynamodbFaults } from "./dynamodb-faults.ts";
import { realAws } from "./real-aws.ts";
import { dynamodbContracts } from "./state-contracts.ts";
import { wireFaults } from "./wire-faults.ts";

const connection = realAws("DYNAMODB");

// Without the contract of interrupted calls: an interruption is a fault of its own.
describe.skipIf(connection === undefined)(
  "over a connection with every fault, where SLUICE_REAL_DYNAMODB names one (npm run real -- up)",
  () => {
    const of = connection ?? { region: "" };
    let wire: FaultyWire;
    const { of: faultOf, met } = wireFaults(dynamodbFaults, 1);
    beforeAll(async () => {
      wire = await faultyDynamodb(of.endpoint ?? "", faultOf);
    });
    afterAll(() => wire[Symbol.asyncDispose]());
    // What gets no answer is given up as soon as in Lambda.
    const open = () => newDynamodb(of, { endpoint: wire.url, attemptTimeoutMs: undefined });
    for (const contract of dynamodbContracts) contract("DynamoDB", open);

    test("every fault has occurred", () => {
      expect([...met].toSorted()).toEqual(dynamodbFaults.map(([fault]) => fault).toSorted());
    });
  },
);
