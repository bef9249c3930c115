import { inTimeSlices } from "../../core/concurrency.ts";
import { compareSemver, type SemverVersion } from "../semver-version.ts";
import { versionsIn, type Wanted } from "../versions-in.ts";

/** Time for matching all tags: a filter of that length may take 10 ms for one tag. */
export const maxChoosingMs = 20_000;

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
