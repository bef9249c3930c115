import { keptHelmMiB, keptKustomizeMiB, moduleMemoryMiB } from "../../lib/engine/module-memory.ts";
import { maxAnswerBytes } from "../../lib/kube/answer-limits.ts";
import { rememberedBuildBytes } from "../../lib/manifests/build/cached-build.ts";
import { readingLimits } from "../../lib/manifests/thread/off-thread.ts";
import { defaultArchiveLimits } from "../../lib/sources/archive/unpack.ts";
import { defaultGitLimits } from "../../lib/sources/git/git-remote.ts";
import { cachedObjectBytes } from "../../lib/sources/git/pack-unpacker.ts";
import { defaultIndexLimits } from "../../lib/sources/helm/index-limits.ts";
import { maxListingBytes } from "../../lib/sources/shared-listing.ts";
import { youngHeapMb } from "../../lib/threads/thread-job.ts";
import { functionThreads } from "./function-threads.ts";

/** What a reconcile function has, and how many runs share it. */
export interface ReconcileSize {
  readonly memoryMiB: number;
  readonly tmpMiB: number;
  readonly batchSize: number;
}

/** Messages of a batch, each a run; all run at the same time. */
export const defaultBatchSize = 2;

/** Node, our code and its connections, before the first run: docs/figures.md. */
const ownMiB = 160;
/** What Lambda takes and gives. */
const sizes = {
  memoryMiB: { least: 128, most: 10_240, unit: "MiB of memory" },
  tmpMiB: { least: 512, most: 10_240, unit: "MiB of /tmp" },
  batchSize: { least: 1, most: 10, unit: "runs" },
} as const;

const mib = (bytes: number): number => Math.ceil(bytes / (1024 * 1024));

/** What one run takes at its limits, in the one of its steps that takes most: they come one after the other. */
const runMiB = Math.max(
  // The archive as it comes, its files, and the archive that is made of them.
  mib(2 * defaultArchiveLimits.maxPackedBytes + defaultArchiveLimits.maxBytes),
  // An object of a pack and what it is a difference to.
  mib(2 * defaultGitLimits.maxObjectBytes + cachedObjectBytes),
  mib(maxAnswerBytes),
  // The index of a Helm repository as it comes, its parts, and what is made of them.
  mib(defaultIndexLimits.maxBytes + 2 * defaultIndexLimits.maxStoredBytes),
);

/**
 * What a process takes beside its runs, in MiB: its threads at their limits, and what it remembers. The rows of docs/limits.md.
 *
 * @internal Exported for the test of that page.
 */
export const processPartsMiB = {
  own: ownMiB,
  // Kustomize, Helm and the thread that reads large files take turns; an idle thread of kustomize is kept meanwhile.
  inTurns:
    functionThreads *
    Math.max(moduleMemoryMiB.kustomize, moduleMemoryMiB.helm, keptKustomizeMiB + readingLimits.maxHeapMb + youngHeapMb),
  // An idle thread of Helm is kept too.
  keptHelm: functionThreads * keptHelmMiB,
  cel: functionThreads * moduleMemoryMiB.cel,
  cached: mib(rememberedBuildBytes + maxListingBytes),
} as const;

const processMiB = Object.values(processPartsMiB).reduce((sum, part) => sum + part, 0);

/** What so many runs at the same time need, if each of them and each thread is at its limit. */
export function neededFor(batchSize: number): Pick<ReconcileSize, "memoryMiB" | "tmpMiB"> {
  // A pack of git is a file.
  return { memoryMiB: processMiB + batchSize * runMiB, tmpMiB: batchSize * mib(defaultGitLimits.maxPackBytes) };
}

/**
 * The size of a reconcile function: what is given, and else what the limits of its runs need together. Answers the faults of one that
 * Lambda does not offer or that does not hold its runs, each with what to write.
 *
 * @internal Exported for its tests and for the CDK app.
 */
export function reconcileSize(given: Partial<ReconcileSize>): ReconcileSize | { readonly faults: readonly string[] } {
  const { batchSize = defaultBatchSize } = given;
  const needed = neededFor(batchSize);
  const size = {
    batchSize,
    // In steps of 64, as people choose it.
    memoryMiB: given.memoryMiB ?? Math.ceil(needed.memoryMiB / 64) * 64,
    tmpMiB: given.tmpMiB ?? Math.max(needed.tmpMiB, sizes.tmpMiB.least),
  };
  const outside = (["memoryMiB", "tmpMiB", "batchSize"] as const).flatMap((name) => {
    const { least, most } = sizes[name];
    if (Number.isInteger(size[name]) && size[name] >= least && size[name] <= most) return [];
    return [`reconcile.${name} must be a whole number from ${least} to ${most}`];
  });
  if (outside.length > 0) return { faults: outside };
  const faults = (["memoryMiB", "tmpMiB"] as const).flatMap((name) => {
    if (size[name] >= needed[name]) return [];
    const runs = batchSize === 1 ? "one run" : `${batchSize} runs at the same time`;
    return [
      `reconcile.${name} is ${size[name]}, and the limits of ${runs} need ${needed[name]} ${sizes[name].unit} together (docs/limits.md): write ${name}: ${needed[name]} or a smaller batchSize`,
    ];
  });
  return faults.length > 0 ? { faults } : size;
}
