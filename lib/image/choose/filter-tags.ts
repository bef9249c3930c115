import { RE2JS } from "re2js";
import type { ImagePolicySpec } from "../../api/image-policy.ts";
import { inTimeSlices } from "../../core/concurrency.ts";
import { cutText } from "../../core/cut-text.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { parseTemplate, type Template } from "./expand-template.ts";

/** Characters of `spec.filterTags.pattern` and of `spec.filterTags.extract` each. */
export const maxFilterChars = 1_024;
/** Characters of all that is extracted from the tags of a policy. */
export const maxExtractedChars = 4_194_304;
/** Time for matching all tags of a policy: a pattern of the greatest length may take a millisecond for one tag. */
export const maxFilteringMs = 20_000;

const maxShownBytes = 200;

/** A tag, and the part of it that is ranked. */
export interface Candidate {
  readonly key: string;
  readonly tag: string;
}

/**
 * The tags that the filter of a policy keeps, in the order of the tags.
 *
 * @throws Failure `InvalidPolicy` in Flux's words if the filter is malformed or over a limit; `Failure` if it keeps no tag
 */
export async function filterTags(
  tags: readonly string[],
  filter: ImagePolicySpec["filterTags"],
  signal: AbortSignal,
  maxMs = maxFilteringMs,
): Promise<readonly Candidate[]> {
  if (filter === undefined) return tags.map((tag) => ({ key: tag, tag }));
  const { pattern = "", extract = "" } = filter;
  const expression = compile(pattern);
  const template = extract === "" ? undefined : templateOf(extract, expression);
  const candidates: Candidate[] = [];
  let chars = 0;
  const match = (tag: string): void => {
    const matcher = expression.matcher(tag);
    if (!matcher.find()) return;
    const key = template?.((index) => matcher.group(index)) ?? tag;
    chars += template === undefined ? 0 : key.length;
    if (chars > maxExtractedChars) {
      throw invalid(`spec.filterTags.extract makes more than ${maxExtractedChars} characters of the tags: shorten it`);
    }
    candidates.push({ key, tag });
  };
  if (!(await inTimeSlices(tags, match, maxMs, signal))) {
    throw invalid(`spec.filterTags.pattern takes more than ${maxMs / 1_000} s for the tags: simplify it`);
  }
  if (candidates.length > 0) return candidates;
  const quoted = cutText(pattern, maxShownBytes);
  const mend = `spec.filterTags.pattern '${quoted}' matches none of ${tags.length} tags`;
  throw new Failure("Failure", `version list argument cannot be empty; ${mend}`);
}

function compile(pattern: string): RE2JS {
  if (pattern.length > maxFilterChars) {
    const quoted = cutText(pattern, maxShownBytes);
    throw invalid(`spec.filterTags.pattern '${quoted}' has more than ${maxFilterChars} characters: shorten it`);
  }
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw invalid(`invalid regular expression pattern '${pattern}': ${messageOf(error)}`, error);
  }
}

function templateOf(extract: string, expression: RE2JS): Template {
  if (extract.length > maxFilterChars) {
    throw invalid(`spec.filterTags.extract has more than ${maxFilterChars} characters: shorten it`);
  }
  return parseTemplate(extract, { count: expression.groupCount(), named: expression.namedGroups() });
}

function invalid(why: string, cause?: unknown): Failure {
  return new Failure("InvalidPolicy", `failed to filter tags: ${why}`, { cause });
}
