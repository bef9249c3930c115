import type { GitRepositorySpec } from "../../api/git-repository.ts";
import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { countingField, type WantedRef } from "../../sources/git/choose-ref.ts";

type GitSpec = ImageUpdateAutomationSpec["git"] & {};

/** What is checked out, and where commits are pushed. */
export interface PushConfig {
  /** What is checked out; without a field: the branch `master`. */
  readonly ref: WantedRef;
  readonly branch: string;
  /** Whether commits go to another branch than the one that is checked out. */
  readonly isSwitched: boolean;
  readonly refspec: string | undefined;
  /** `key=value`, in the order of their keys. */
  readonly options: readonly string[];
}

const defaultBranch = "master";
const heads = "refs/heads/";

/** Undefined if no field names the branch to push to. Pure. */
export function pushConfig(
  { checkout, push }: GitSpec,
  { ref: own }: Pick<GitRepositorySpec, "ref">,
): PushConfig | undefined {
  const ref: WantedRef = checkout?.ref ?? own ?? {};
  const named = [push?.branch, ref.branch].find((branch = "") => branch !== "");
  if (named === undefined) return undefined;
  const refspec = push?.refspec === "" ? undefined : push?.refspec;
  const options = Object.entries(push?.options ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`);
  return { ref, branch: named, isSwitched: named !== branchOf(ref), refspec, options };
}

/** The branch that a reference checks out; undefined for anything else. */
export function branchOf(ref: WantedRef): string | undefined {
  const { branch = "", name = "" } = ref;
  switch (countingField(ref)) {
    case "branch":
      return branch === "" ? defaultBranch : branch;
    case "name":
      return name.startsWith(heads) ? name.slice(heads.length) : undefined;
    case "commit":
    case "semver":
    case "tag":
      return undefined;
  }
}
