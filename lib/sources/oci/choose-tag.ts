import { RE2JS } from "re2js";
import { cutText } from "../../core/cut-text.ts";
import { messageOf } from "../../core/failure.ts";
import { inTurns } from "../../core/in-turns.ts";
import { maxRangeBytes, parseSemverRange, type SemverRange } from "../semver-range.ts";
import { compareSemver, parseSemver, type SemverVersion } from "../semver-version.ts";

/** Of `spec.ref.semverFilter`. */
export const maxFilterLength = 1_024;
/** What both may take of the thread, all tags together: a filter of that length may take 10 ms for one. */
export const maxChoosingMs = 20_000;
const maxQuotedBytes = 200;

/** What of the tags is wanted. */
interface Wanted {
  readonly semver: string;
  readonly filter: string | undefined;
  readonly isChart: boolean;
}

/**
 * The tag with the highest version in a range, as it is spelled. `filter` is a regular expression that tags must match
 * first. Helm writes `+` as `_`, which no tag may hold: where the layer is a chart, it is read back.
 * Throws a `RangeError` with Flux's text where the range or the filter cannot be read or nothing matches, and where it takes
 * longer than {@link maxChoosingMs}.
 */
export async function chooseTag(
  tags: readonly string[],
  { semver, filter, isChart }: Wanted,
  signal: AbortSignal,
  maxMs = maxChoosingMs,
): Promise<string> {
  const isCandidate = filter === undefined || filter === "" ? () => true : matching(filter);
  const range = rangeOf(semver);
  let best: { readonly tag: string; readonly version: SemverVersion } | undefined;
  const look = (tag: string): void => {
    const version = isCandidate(tag) ? parseSemver(isChart ? tag.replaceAll("_", "+") : tag) : undefined;
    if (version === undefined || !range(version)) return;
    const order = best === undefined ? 1 : compareSemver(version, best.version);
    // Versions that differ in their build only are equal: the later name, so that the choice is the same each time.
    if (best === undefined || order > 0 || (order === 0 && tag > best.tag)) best = { tag, version };
  };
  if (!(await inTurns(tags, look, maxMs, signal))) {
    throw new RangeError(`semver and semverFilter take more than ${maxMs / 1_000} s for ${tags.length} tags`);
  }
  if (best === undefined) throw new RangeError(`no match found for semver: ${semver}`);
  return best.tag;
}

function rangeOf(text: string): SemverRange {
  try {
    return parseSemverRange(text);
  } catch (error) {
    const quoted = cutText(text, maxRangeBytes);
    throw new RangeError(`semver '${quoted}' parse error: ${messageOf(error)}`, { cause: error });
  }
}

/** RE2, as Flux has it: unanchored, and linear in time whatever the pattern. */
function matching(pattern: string): (tag: string) => boolean {
  if (pattern.length > maxFilterLength) {
    const quoted = cutText(pattern, maxQuotedBytes);
    throw new RangeError(`semverFilter '${quoted}' has more than ${maxFilterLength} characters`);
  }
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern);
  } catch (error) {
    throw new RangeError(`semverFilter '${pattern}' parse error: ${messageOf(error)}`, { cause: error });
  }
  return (tag) => expression.matcher(tag).find();
}
