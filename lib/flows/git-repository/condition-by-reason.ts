import type { ConditionByReason } from "../source/source-conditions.ts";

/** The failures of a GitRepository that have a condition of their own (reference sources 1.7). */
export const conditionByReason = {
  FeatureGateDisabled: "FetchFailed",
  InvalidCommitSignature: "SourceVerified",
  InvalidGitObject: "SourceVerified",
  InvalidProviderConfiguration: "FetchFailed",
  InvalidTagSignature: "SourceVerified",
  InvalidVerificationMode: "SourceVerified",
  NoArtifact: "IncludeUnavailable",
  NotFound: "IncludeUnavailable",
  VerificationError: "SourceVerified",
} as const satisfies ConditionByReason;
