import { RE2JS } from "re2js";
import { cutText } from "../core/cut-text.ts";
import { messageOf } from "../core/failure.ts";
import { maxRangeBytes, parseSemverRange, type SemverRange } from "./semver-range.ts";
import { parseSemver, type SemverVersion } from "./semver-version.ts";

/** Of `spec.ref.semverFilter`. */
export const maxFilterLength = 1_024;
const maxQuotedBytes = 200;

/** The tags that are wanted. */
export interface Wanted {
  readonly semver: string;
  readonly filter: string | undefined;
  readonly isChart: boolean;
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
