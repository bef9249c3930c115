import type { Cause } from "../../core/event-relation.ts";
import { Failure, messageOf } from "../../core/failure.ts";

/** Flux's words before a failure of each reason. */
const summaries = {
  ChartPackageError: "chart package error",
  ChartPullError: "chart pull error",
  ChartVerificationError: "chart verification error",
  DependencyBuildError: "dependency build error",
  InvalidChartReference: "invalid chart reference",
  MetadataPatchError: "chart metadata patch error",
  ValuesFilesError: "values files merge error",
} as const;

export type ChartReason = keyof typeof summaries;

/** A failure to build a chart, in Flux's words (reference sources 7.7). @param waitsFor see {@link Failure.waitsFor} */
export function chartFailure(reason: ChartReason, why: string, cause?: unknown, waitsFor?: Cause): Failure {
  return new Failure(reason, `${summaries[reason]}: ${why}`, { cause, waitsFor });
}

/** What `work` answers. A `RangeError` of it is a failure of this reason, with `before` before its text. */
export async function orChartFailure<Result>(
  reason: ChartReason,
  work: () => Promise<Result> | Result,
  before = "",
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw chartFailure(reason, `${before}${messageOf(error)}`, error);
  }
}
