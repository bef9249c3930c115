/** A semantic version. Numbers are kept as text without leading zeros, so that long ones are compared exactly. */
export interface SemverVersion {
  readonly major: string;
  readonly minor: string;
  readonly patch: string;
  /** Dot-separated; empty for a release. */
  readonly pre: string;
  /** The text that it was read from, which is the tag to look up. */
  readonly original: string;
}

const maxVersionLength = 256;
const maxUint64 = String(2n ** 64n - 1n);
const versionPattern =
  /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/**
 * Reads a tag as Flux does: a version that {@link readSemver} accepts and that has two dots. Undefined for `1.2` or `latest`; but
 * `1.2-rc.1`, whose second dot belongs to the pre-release, is 1.2.0-rc.1.
 */
export function parseSemver(text: string): SemverVersion | undefined {
  return text.split(".", 3).length === 3 ? readSemver(text) : undefined;
}

/** Reads what Masterminds/semver accepts as a version: one to three numbers of 64 bits, with an optional `v` before them. */
export function readSemver(text: string): SemverVersion | undefined {
  if (text.length > maxVersionLength) return undefined;
  const [, major, minor = "0", patch = "0", pre = ""] = versionPattern.exec(text) ?? [];
  if (major === undefined || !isPrerelease(pre)) return undefined;
  const version = { major: trimZeros(major), minor: trimZeros(minor), patch: trimZeros(patch), pre, original: text };
  const areNumbers = [version.major, version.minor, version.patch].every(
    (digits) => compareNumbers(digits, maxUint64) <= 0,
  );
  return areNumbers ? version : undefined;
}

/** Negative, zero or positive, by the precedence of semver.org, which ignores build metadata. */
export function compareSemver(a: SemverVersion, b: SemverVersion): number {
  return (
    compareNumbers(a.major, b.major) ||
    compareNumbers(a.minor, b.minor) ||
    compareNumbers(a.patch, b.patch) ||
    comparePrerelease(a.pre, b.pre)
  );
}

export function compareNumbers(a: string, b: string): number {
  return a.length - b.length || compareTexts(a, b);
}

/** Whether a pre-release is valid: no numeric part has a leading zero. The empty one stands for a release. */
function isPrerelease(pre: string): boolean {
  return pre === "" || pre.split(".").every((part) => !/^0\d+$/.test(part));
}

function trimZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, "");
}

function comparePrerelease(a: string, b: string): number {
  if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
  const others = b.split(".");
  const parts = a.split(".");
  for (const [index, part] of parts.entries()) {
    const other = others[index];
    if (other === undefined) return 1;
    const order = comparePart(part, other);
    if (order !== 0) return order;
  }
  return parts.length - others.length;
}

function comparePart(a: string, b: string): number {
  const isNumberA = /^\d+$/.test(a);
  const isNumberB = /^\d+$/.test(b);
  if (isNumberA && isNumberB) return compareNumbers(a, b);
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return compareTexts(a, b);
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
