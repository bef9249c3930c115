import { describe } from "vitest";
import { dynamodbInventoryContract } from "./dynamodb-inventory.ts";
import { realAws } from "./real-aws.ts";

const connection = realAws("DYNAMODB");

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  dynamodbInventoryContract("DynamoDB", () => connection ?? { region: "" });
});
