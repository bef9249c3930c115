import type { SqsFault } from "../doubles/faulty-sqs.ts";
import type { FaultRates } from "./wire-faults.ts";

export const sqsFaults: FaultRates<SqsFault> = [
  ["throttled", 0.03],
  ["broken", 0.03],
  ["dropped", 0.03],
  ["lost", 0.05],
  ["silent", 0.002],
  ["doubled", 0.05],
  ["leftOver", 0.3],
];
