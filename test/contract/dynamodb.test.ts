import { describe } from "vitest";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { interruptedCallsContract } from "./interrupted-calls.ts";
import { realAws } from "./real-aws.ts";
import { dynamodbContracts } from "./state-contracts.ts";

const connection = realAws("DYNAMODB");

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  for (const contract of [...dynamodbContracts, interruptedCallsContract]) {
    contract("DynamoDB", () => newDynamodb(connection ?? { region: "" }));
  }
});
