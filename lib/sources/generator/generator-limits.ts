import { timeSlices } from "../../core/concurrency.ts";
import { type ArchiveLimits, defaultArchiveLimits } from "../archive/unpack.ts";

/** What one run may read and write. Flux limits nothing but what `Extract` unpacks. */
export interface GeneratorLimits {
  /** The limits for all sources together with an artifact's extracted content, and for each artifact. */
  readonly archive: ArchiveLimits;
  /** Bytes that `Extract` may unpack of one tarball, as in Flux. */
  readonly maxExtractedBytes: number;
  /** The limit for each of two files that `Merge` reads. */
  readonly maxMergedBytes: number;
  /** Files that are looked at and characters that globs are matched with, for all artifacts together. */
  readonly maxSteps: number;
}

export const defaultGeneratorLimits: GeneratorLimits = {
  archive: defaultArchiveLimits,
  maxExtractedBytes: 100 * 1024 * 1024,
  maxMergedBytes: 256 * 1024,
  maxSteps: 100_000_000,
};

/** How much of its limits a run has left. */
export interface Budget {
  readonly limits: GeneratorLimits;
  /** Bytes of files that it may hold in memory beside those that it holds: sources, and what an artifact extracts. */
  readonly memory: { left: number };
  readonly signal: AbortSignal;
  /** Counts steps; lets other work of the process run now and then. Throws a `RangeError` where too many were made. */
  spend(steps: number): Promise<void> | undefined;
}

export function budgetOf(limits: GeneratorLimits, signal: AbortSignal): Budget {
  const slices = timeSlices(signal);
  let left = limits.maxSteps;
  return {
    limits,
    memory: { left: limits.archive.maxBytes },
    signal,
    spend(steps) {
      left -= steps;
      if (left < 0) {
        const mend = "use fewer files, operations and excludes, or split the ArtifactGenerator";
        throw new RangeError(`its globs and files take more than ${limits.maxSteps} steps: ${mend}`);
      }
      return slices.isOver() ? slices.pause() : undefined;
    },
  };
}
