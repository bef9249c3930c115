import type { DynamodbFault } from "../doubles/faulty-dynamodb.ts";
import type { FaultRates } from "./wire-faults.ts";

export const dynamodbFaults: FaultRates<DynamodbFault> = [
  ["throttled", 0.02],
  ["broken", 0.02],
  ["dropped", 0.03],
  ["lost", 0.04],
  ["silent", 0.002],
  ["conflict", 0.05],
  ["leftOver", 0.3],
];
