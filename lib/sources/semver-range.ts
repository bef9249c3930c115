import { compareNumbers, compareSemver, isPrerelease, type SemverVersion, trimZeros } from "./semver-version.ts";

const operators = ["!=", ">=", "=>", "<=", "=<", "~>", "=", ">", "<", "~", "^"] as const;
type Operator = (typeof operators)[number];

/** One comparison. `open` is the first part that was left out or written as a wildcard: `1.x` is open at its minor part. */
interface Comparator {
  readonly operator: Operator;
  readonly version: SemverVersion;
  readonly open: "major" | "minor" | "patch" | undefined;
}

/** Groups of which one must hold; all comparators of a group must. */
type Groups = readonly (readonly Comparator[])[];

/** Whether a version is in a range. */
export type SemverRange = (version: SemverVersion) => boolean;

/**
 * Reads a range in the grammar that Flux uses (Go's Masterminds/semver v3), which is not npm's: `=>`, a space or a comma for
 * "and", `!=1.4` for the whole minor version, a bare `1.5` for `1.5.x`, `~1` for `1.x`. Pre-releases are looked at in a group
 * in which some comparator has one, and then in all of that group. Throws a `RangeError` for what is no range.
 */
export function parseSemverRange(text: string): SemverRange {
  const groups: Groups = text.split("||").map(parseGroup);
  return (version) =>
    groups.some((group) => {
      const takesPrereleases = group.some((comparator) => comparator.version.pre !== "");
      if (version.pre !== "" && !takesPrereleases) return false;
      return group.every((comparator) => holds(comparator, version));
    });
}

const versionPattern =
  /v?([0-9xX*]+)(?:\.([0-9xX*]+))?(?:\.([0-9xX*]+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?/y;

function parseGroup(text: string): Comparator[] {
  const improper = (): RangeError => new RangeError(`improper constraint: ${JSON.stringify(text)}`);
  const comparators: Comparator[] = [];
  let at = 0;
  const skipSpace = (): number => {
    const before = at;
    while (/\s/.test(text[at] ?? "")) at++;
    return at - before;
  };
  const readVersion = (operator: Operator): Comparator => {
    versionPattern.lastIndex = at;
    const match = versionPattern.exec(text);
    if (match === null) throw improper();
    at = versionPattern.lastIndex;
    return comparatorOf(operator, match);
  };
  skipSpace();
  for (;;) {
    const operator = operators.find((one) => text.startsWith(one, at));
    at += operator?.length ?? 0;
    skipSpace();
    const first = readVersion(operator ?? "=");
    const gap = skipSpace();
    // A hyphen between spaces makes a range of two versions; without them it begins a pre-release.
    const isHyphen = gap > 0 && text[at] === "-" && /\s/.test(text[at + 1] ?? "");
    if (isHyphen) {
      if (operator !== undefined) throw improper();
      at++;
      skipSpace();
      comparators.push({ ...first, operator: ">=" }, readVersion("<="));
    } else {
      comparators.push(first);
    }
    const separated = skipSpace() + (isHyphen ? 0 : gap) > 0;
    if (at === text.length) return comparators;
    if (text[at] === ",") {
      at++;
      skipSpace();
    } else if (!separated) {
      throw improper();
    }
  }
}

function comparatorOf(operator: Operator, match: RegExpExecArray): Comparator {
  const [original = "", major = "", minor, patch, pre = ""] = match;
  const open = isWildcard(major) ? "major" : isWildcard(minor) ? "minor" : isWildcard(patch) ? "patch" : undefined;
  const version: SemverVersion = {
    major: open === "major" ? "0" : number(major),
    minor: open === "major" || open === "minor" ? "0" : number(minor ?? ""),
    patch: open === undefined ? number(patch ?? "") : "0",
    pre,
    original,
  };
  if (!isPrerelease(pre)) throw new RangeError("constraint Parser Error");
  return { operator, version, open };
}

function number(text: string): string {
  if (!/^\d{1,20}$/.test(text)) throw new RangeError("constraint Parser Error");
  return trimZeros(text);
}

function isWildcard(part: string | undefined): boolean {
  return part === undefined || part === "x" || part === "X" || part === "*";
}

/** The rules of one comparator, quirks included: an artifact must not change because Sluice reads a range differently. */
function holds({ operator, version: bound, open }: Comparator, version: SemverVersion): boolean {
  const order = compareSemver(version, bound);
  const major = compareNumbers(version.major, bound.major);
  const minor = compareNumbers(version.minor, bound.minor);
  switch (operator) {
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

/** The leftmost number that is not zero stays. */
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
