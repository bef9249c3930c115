import { RE2JS } from "re2js";
import { inTimeSlices } from "../../core/concurrency.ts";
import { cutText } from "../../core/cut-text.ts";
import { messageOf } from "../../core/failure.ts";
import { maxRangeBytes, parseSemverRange, type SemverRange } from "../semver-range.ts";
import { compareSemver, parseSemver, type SemverVersion } from "../semver-version.ts";

/** Of `spec.ref.semverFilter`. */
export const maxFilterLength = 1_024;
/** Time for matching all tags: a filter of that length may take 10 ms for one tag. */
export const maxChoosingMs = 20_000;
const maxQuotedBytes = 200;

/** The tag that is wanted. */
export interface Wanted {
  readonly semver: string;
  readonly filter: string | undefined;
  readonly isChart: boolean;
}

/**
 * The tag with the highest version in a range, in its own spelling. `filter` is a regular expression that tags must match first.
 * A tag must not contain `+`, so Helm writes `_` in its place: `isChart` reads it back. Throws a `RangeError`, with Flux's text if
 * the range or the filter is invalid or no tag matches, and after `maxMs`.
 */
export async function chooseTag(
  tags: readonly string[],
  { semver, filter, isChart }: Wanted,
  signal: AbortSignal,
  maxMs = maxChoosingMs,
): Promise<string> {
  const versionOf = versionsIn({ semver, filter, isChart });
  let best: { readonly tag: string; readonly version: SemverVersion } | undefined;
  const look = (tag: string): void => {
    const version = versionOf(tag);
    if (version === undefined) return;
    const order = best === undefined ? 1 : compareSemver(version, best.version);
    // Versions that differ only in their build metadata are equal. The later name wins, so that the choice is stable.
    if (best === undefined || order > 0 || (order === 0 && tag > best.tag)) best = { tag, version };
  };
  if (!(await inTimeSlices(tags, look, maxMs, signal))) {
    throw new RangeError(`semver and semverFilter take more than ${maxMs / 1_000} s for ${tags.length} tags`);
  }
  if (best === undefined) throw new RangeError(`no match found for semver: ${semver}`);
  return best.tag;
}

/** Answers the version of a tag if it is one of those that are wanted. Throws a `RangeError` if the range or the filter is invalid. */
export function versionsIn({ semver, filter, isChart }: Wanted): (tag: string) => SemverVersion | undefined {
  const isCandidate = filter === undefined || filter === "" ? () => true : matching(filter);
  const range = rangeOf(semver);
  return (tag) => {
    const version = isCandidate(tag) ? parseSemver(isChart ? tag.replaceAll("_", "+") : tag) : undefined;
    return version !== undefined && range(version) ? version : undefined;
  };
}

function rangeOf(text: string): SemverRange {
  try {
    return parseSemverRange(text);
  } catch (error) {
    const quoted = cutText(text, maxRangeBytes);
    throw new RangeError(`semver '${quoted}' parse error: ${messageOf(error)}`, { cause: error });
  }
}

/** RE2, as in Flux: unanchored, and linear in time for every pattern. */
function matching(pattern: string): (tag: string) => boolean {
  if (pattern.length > maxFilterLength) {
    const quoted = cutText(pattern, maxQuotedBytes);
    throw new RangeError(`semverFilter '${quoted}' has more than ${maxFilterLength} characters`);
  }
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern);
  } catch (error) {
    throw new RangeError(messageOf(error), { cause: error });
  }
  return (tag) => expression.matcher(tag).find();
}
