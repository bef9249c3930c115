/** The minor versions of Kubernetes 1 that Sluice is tested with (docs/maintainers/embedded-cluster.md). */
const testedMinors = { oldest: 33, newest: 36 } as const;

/** The version of the API server, judged. */
export interface CheckedVersion {
  /** As the server names it, without the leading `v`; empty if it names none. */
  readonly version: string;
  /** `newer` than what was tested is likely to work, `older` and `unknown` fail the check. */
  readonly verdict: "tested" | "newer" | "older" | "unknown";
}

/** Pure. Reads `v1.35.4` and what distributions make of it: `v1.33.1-eks-1234567`, `v1.36.0-alpha.1+k3s`. */
export function judgeVersion(gitVersion: string): CheckedVersion {
  const version = gitVersion.replace(/^v/, "");
  const [, major, minor] = /^(\d+)\.(\d+)(?:[.+-]|$)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return { version, verdict: "unknown" };
  const { oldest, newest } = testedMinors;
  if (Number(major) !== 1) return { version, verdict: Number(major) < 1 ? "older" : "newer" };
  if (Number(minor) < oldest) return { version, verdict: "older" };
  return { version, verdict: Number(minor) > newest ? "newer" : "tested" };
}

/** For people: the versions that Sluice is tested with. */
export const testedVersions = `1.${testedMinors.oldest} to 1.${testedMinors.newest}`;
