import { parseIgnoreFile } from "../../../lib/sources/archive/ignore-pattern.ts";
import { ignoreBy } from "../../../lib/sources/archive/ignore-rules.ts";
import { chooseTag } from "../../../lib/sources/oci/choose-tag.ts";
import { parseSemverRange, type SemverRange } from "../../../lib/sources/semver-range.ts";
import { parseSemver } from "../../../lib/sources/semver-version.ts";

/**
 * A pattern that somebody writes into a source, and what it is held against: a range and a tag, a regular expression and a tag, the
 * lines of an ignore file and a path (a folder's ends in a slash).
 */
export type DialectCase = readonly [dialect: "expression" | "ignore" | "range", pattern: string, text: string];

/** What `test/interop/dialects` says of a case, said by us. */
export async function ourVerdict([dialect, pattern, text]: DialectCase): Promise<string> {
  switch (dialect) {
    case "range":
      return ofRange(pattern, text);
    case "expression":
      return ofExpression(pattern, text);
    case "ignore":
      return inOrOut(ignoreBy(parseIgnoreFile(pattern))(text.replace(/\/$/, ""), text.endsWith("/")));
  }
}

function ofRange(pattern: string, tag: string): string {
  let range: SemverRange;
  try {
    range = parseSemverRange(pattern);
  } catch (error) {
    if (error instanceof RangeError) return "refused";
    throw error;
  }
  const version = parseSemver(tag);
  return version === undefined ? "no version" : inOrOut(range(version));
}

const never = new AbortController().signal;

/** The tag has to be a version, or it is no candidate. */
async function ofExpression(pattern: string, tag: string): Promise<string> {
  try {
    await chooseTag([tag], { semver: "*-0", filter: pattern, isChart: false }, never);
    return "in";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return error.message.includes("parse error") ? "refused" : "out";
  }
}

function inOrOut(isIn: boolean): string {
  return isIn ? "in" : "out";
}
