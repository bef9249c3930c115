import { RE2JS } from "re2js";
import { z } from "zod";
import { compareNumbers, compareSemver, readSemver, type SemverVersion } from "./semver-version.ts";

const Operator = z.enum(["", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"]);
type Operator = z.infer<typeof Operator>;

/** One comparison. `open` is the first part that is missing or a wildcard: `1.x` is open at its minor part. */
interface Comparator {
  readonly operator: Operator;
  readonly version: SemverVersion;
  readonly open: "major" | "minor" | "patch" | undefined;
}

/** One group must hold; a group holds if all of its comparators do. */
type Groups = readonly (readonly Comparator[])[];

/** The limits of Masterminds/semver. */
export const maxRangeBytes = 512;
export const maxGroups = 32;

/** The regular expressions of Masterminds/semver, with a matcher that is linear in time, so that the same texts are ranges. */
const version = String.raw`v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?`;
const operators = String.raw`=||!=|>|<|>=|=>|<=|=<|~|~>|\^`;
const oneComparator = RE2JS.compile(String.raw`^\s*(${operators})\s*(${version})\s*$`);
const eachComparator = RE2JS.compile(String.raw`(${operators})\s*(${version})`);
const wholeGroup = RE2JS.compile(
  String.raw`^(\s*(${operators})\s*(${version})\s*)((?:\s+|,\s*)(${operators})\s*(${version})\s*)*$`,
);
const hyphenRange = RE2JS.compile(String.raw`\s*(${version})\s+-\s+(${version})\s*`);
const secondBound = 11;

/** Whether a version is in a range. */
export type SemverRange = (version: SemverVersion) => boolean;

/**
 * Reads a range in the grammar that Flux uses (Go's Masterminds/semver v3), which is not npm's: `=>`, a space or a comma for
 * "and", `!=1.4` for the whole minor version, a bare `1.5` for `1.5.x`, `~1` for `1.x`. A group considers pre-releases if at
 * least one of its comparators has one. Throws a `RangeError` for a text that is not a range.
 */
export function parseSemverRange(text: string): SemverRange {
  if (Buffer.byteLength(text) > maxRangeBytes) {
    throw new RangeError(`constraint string is too long (max ${maxRangeBytes} bytes)`);
  }
  const parts = withoutHyphens(text).split("||");
  if (parts.length > maxGroups) throw new RangeError(`too many constraint groups (max ${maxGroups})`);
  const groups: Groups = parts.map(parseGroup);
  return (version) =>
    groups.some((group) => {
      const takesPrereleases = group.some((comparator) => comparator.version.pre !== "");
      if (version.pre !== "" && !takesPrereleases) return false;
      return group.every((comparator) => holds(comparator, version));
    });
}

/** `1.1 - 2` as `>= 1.1, <= 2 `. */
function withoutHyphens(text: string): string {
  const found = hyphenRange.matcher(text);
  let left = text;
  while (found.find()) {
    const plain = `>= ${found.group(1)}, <= ${found.group(secondBound)} `;
    left = left.replace(found.group(0) ?? "", () => plain);
  }
  return left;
}

function parseGroup(text: string): readonly Comparator[] {
  if (!wholeGroup.matcher(text).find()) throw new RangeError(`improper constraint: ${JSON.stringify(text)}`);
  const found = eachComparator.matcher(text);
  const comparators: Comparator[] = [];
  while (found.find()) comparators.push(parseComparator(found.group(0) ?? ""));
  return comparators;
}

function parseComparator(text: string): Comparator {
  const match = oneComparator.matcher(text);
  if (!match.find()) throw new RangeError(`improper constraint: ${JSON.stringify(text)}`);
  const group = (index: number): string => match.group(index) ?? "";
  const [whole, major, minor, patch, pre] = [group(2), group(3), group(4), group(5), group(6)];
  const open = isWildcard(major) ? "major" : isWildcard(minor) ? "minor" : isWildcard(patch) ? "patch" : undefined;
  const numbers = { major: "0.0.0", minor: `${major}.0.0`, patch: `${major}${minor}.0` };
  const version = readSemver(open === undefined ? whole : `${numbers[open]}${pre}`);
  if (version === undefined) throw new RangeError("constraint parser error");
  return { operator: Operator.parse(group(1)), version, open };
}

/** Whether a part of a version, with or without its leading dot, is missing or a wildcard. */
function isWildcard(part: string): boolean {
  return /^(?:\.?[xX*])?$/.test(part);
}

/** The rules of one comparator, with the library's quirks: Sluice must choose the same artifact as Flux. */
function holds({ operator, version: bound, open }: Comparator, version: SemverVersion): boolean {
  const order = compareSemver(version, bound);
  const major = compareNumbers(version.major, bound.major);
  const minor = compareNumbers(version.minor, bound.minor);
  switch (operator) {
    case "":
    case "=":
      return open === undefined ? order === 0 : inTilde(bound, open, version);
    case "!=":
      return isDifferent(bound, open, version);
    case ">":
      if (open !== "minor" && open !== "patch") return order > 0;
      // `>11` begins at 12, `>11.1` at 11.2.
      return major > 0 || (major === 0 && open === "patch" && minor > 0);
    case ">=":
    case "=>":
      return order >= 0;
    case "<":
      return order < 0;
    case "<=":
    case "=<":
      // `<=11` ends with the last 11.x, `<=11.1` with the last 11.1.x.
      if (open === undefined) return order <= 0;
      return major < 0 || (major === 0 && (open === "minor" || minor <= 0));
    case "~":
    case "~>":
      return inTilde(bound, open, version);
    case "^":
      return inCaret(bound, open, version);
  }
}

function inTilde(bound: SemverVersion, open: Comparator["open"], version: SemverVersion): boolean {
  if (compareSemver(version, bound) < 0) return false;
  const isZero = bound.major === "0" && bound.minor === "0" && bound.patch === "0";
  if (isZero && open !== "minor" && open !== "patch") return true;
  return bound.major === version.major && (open === "minor" || bound.minor === version.minor);
}

/** A version is in a caret range if the leftmost number that is not zero is equal. */
function inCaret(bound: SemverVersion, open: Comparator["open"], version: SemverVersion): boolean {
  if (compareSemver(version, bound) < 0 || bound.major !== version.major) return false;
  if (bound.major !== "0" || open === "minor") return true;
  if (bound.minor !== version.minor) return false;
  return bound.minor !== "0" || open === "patch" || bound.patch === version.patch;
}

function isDifferent(bound: SemverVersion, open: Comparator["open"], version: SemverVersion): boolean {
  if (open === undefined || open === "major") return compareSemver(version, bound) !== 0;
  if (bound.major !== version.major) return true;
  if (open === "minor") return false;
  return bound.minor !== version.minor || bound.pre !== version.pre;
}
