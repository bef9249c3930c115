import type { RE2JS } from "re2js";
import { inTimeSlices } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import { compileRegex } from "./compile-regex.ts";
import { compareTags } from "./tag-order.ts";
import { tagsRevision } from "./tags-revision.ts";

/** The tags of a registry's list that a scan keeps. */
export interface ScannedTags {
  /** In descending order of their bytes. A tag that is listed twice appears twice, as in Flux. */
  readonly tags: readonly string[];
  readonly revision: string;
  /** The first ten. */
  readonly latest: readonly string[];
}

const latestCount = 10;
/** All expressions on all tags: a scan of 100,000 tags takes less than a second. */
export const maxExcludingMs = 10_000;

/**
 * Leaves out the tags that an expression of `spec.exclusionList` matches anywhere, and sorts the others. Throws a `RangeError` for an
 * expression that does not compile, in Flux's words, and where the expressions take too long.
 */
export async function scanTags(
  listed: readonly string[],
  exclusions: readonly string[],
  signal: AbortSignal,
  maxMs = maxExcludingMs,
): Promise<ScannedTags> {
  const expressions = exclusions.map(compiled);
  const tags: string[] = [];
  const keep = (tag: string): void => {
    if (!expressions.some((expression) => expression.matcher(tag).find())) tags.push(tag);
  };
  if (!(await inTimeSlices(listed, keep, maxMs, signal))) {
    throw new RangeError(
      `the expressions of spec.exclusionList took more than ${maxMs} ms on ${listed.length} tags: write simpler ones`,
    );
  }
  tags.sort((a, b) => compareTags(b, a));
  return { tags, revision: tagsRevision(tags), latest: tags.slice(0, latestCount) };
}

function compiled(pattern: string): RE2JS {
  try {
    return compileRegex(pattern);
  } catch (error) {
    throw new RangeError(`failed to compile regex ${pattern}: ${messageOf(error)}`, { cause: error });
  }
}
