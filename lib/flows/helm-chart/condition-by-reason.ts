import type { ConditionByReason } from "../source/source-conditions.ts";

/** The failures of a HelmChart that have a condition of their own, also where they stall it (reference sources 7.7). */
export const conditionByReason = {
  ChartPackageError: "BuildFailed",
  ChartVerificationError: "BuildFailed",
  DependencyBuildError: "BuildFailed",
  InvalidChartReference: "FetchFailed",
  MetadataPatchError: "BuildFailed",
  Unknown: "FetchFailed",
  UnsupportedSourceKind: "FetchFailed",
  ValuesFilesError: "BuildFailed",
} as const satisfies ConditionByReason;
