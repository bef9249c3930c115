import { defaultExclusions, type ImageRepositorySpec, type ImageRepositoryStatus } from "../../api/image-repository.ts";
import { parseDuration } from "../../core/duration.ts";

/** Less than this before the time of a scan, it is the time. */
const earlyMs = 1_000;

/** The inputs of {@link whenToScan}. */
export interface ScanInput {
  readonly spec: Pick<ImageRepositorySpec, "exclusionList" | "interval">;
  readonly before: ImageRepositoryStatus;
  /** Of `spec.image`. */
  readonly canonical: string;
  /** Whether a person, an event or a webhook asks for a scan. */
  readonly isAsked: boolean;
  /** How many tags the store has of the last scan. */
  readonly stored: number;
  readonly now: number;
}

/** Why a scan is due, in Flux's words; or after how many milliseconds one is. */
export type WhenToScan = { readonly why: string } | { readonly dueInMs: number };

/** Decides whether a scan is due: the first of the rules that holds (reference image-automation 2.4). Pure. */
export function whenToScan({ spec, before, canonical, isAsked, stored, now }: ScanInput): WhenToScan {
  const { lastScanResult } = before;
  if (lastScanResult === undefined) return { why: "first scan" };
  if (isAsked) return { why: "reconcile requested" };
  if (canonical !== before.canonicalImageName) return { why: "new image name" };
  if (!isSameContent(exclusionsOf(spec), before.observedExclusionList ?? [])) return { why: "updated exclusion list" };
  if (stored === 0) return { why: emptyStore };
  const scanned = Date.parse(lastScanResult.scanTime ?? "");
  // A time that cannot be read is long ago.
  const dueInMs = Number.isNaN(scanned) ? 0 : parseDuration(spec.interval) - (now - scanned);
  return dueInMs < earlyMs ? { why: "triggered by interval" } : { dueInMs };
}

/** With this reason Ready is unknown until the scan has ended, so that waiting policies see a change. */
export const emptyStore = "no tags in database";

/** An empty list means the default, as does an absent one. */
export function exclusionsOf({ exclusionList }: Pick<ImageRepositorySpec, "exclusionList">): readonly string[] {
  return exclusionList.length === 0 ? defaultExclusions : exclusionList;
}

/** In any order. As in Flux, how often an expression is there does not count. */
function isSameContent(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}
