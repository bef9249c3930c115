import type { ConditionByReason } from "../source/source-conditions.ts";

/** The failures of a Bucket that stall it and still have a condition of their own (reference sources 8.2). */
export const conditionByReason = {
  FeatureGateDisabled: "FetchFailed",
  InvalidSTSConfiguration: "FetchFailed",
} as const satisfies ConditionByReason;
