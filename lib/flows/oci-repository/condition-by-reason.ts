import type { ConditionByReason } from "../source/source-conditions.ts";

/** The failures of an OCIRepository that have a condition of their own (reference sources 1.7). */
export const conditionByReason = { VerificationError: "SourceVerified" } as const satisfies ConditionByReason;
