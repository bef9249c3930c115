import { inTimeSlices } from "../../core/concurrency.ts";
import { messageOf } from "../../core/failure.ts";
import { compareSemver, parseSemver, type SemverVersion } from "../semver-version.ts";
import { isOid } from "./git-object.ts";
import type { GitRef } from "./git-remote.ts";

/** What of a repository is wanted: the fields of `spec.ref`. An empty text is as good as none. */
export interface WantedRef {
  readonly branch?: string;
  readonly tag?: string;
  readonly semver?: string;
  readonly name?: string;
  readonly commit?: string;
}

/** The commit that the wanted ref names now. */
export interface ChosenRef {
  /** As `status.artifact.revision` shows it (reference 2.3). */
  readonly revision: string;
  readonly commit: string;
  /** The tag that was chosen; `oid` is that of the tag object, absent for a lightweight tag. */
  readonly tag?: { readonly name: string; readonly oid?: string };
  /** For a commit that no ref names: the refs in whose history it is looked for. */
  readonly within?: readonly string[];
}

/** Time for comparing all tags with a range. */
const maxChoosingMs = 20_000;
const defaultBranch = "master";
const peel = "^{}";
const heads = "refs/heads/";
/** Stands before the name of each tag. */
export const tagPrefix = "refs/tags/";

/** The field that counts, in Flux's order, which differs from what its documents say: tag before semver. */
export function countingField(ref: WantedRef): keyof WantedRef {
  const order = ["commit", "name", "tag", "semver"] as const;
  return order.find((field) => (ref[field] ?? "") !== "") ?? "branch";
}

/** The set fields that have no effect. A branch together with a commit has one: the commit is looked for there. */
export function idleFields(ref: WantedRef): readonly (keyof WantedRef)[] {
  const counting = countingField(ref);
  return (["name", "tag", "semver", "branch"] as const).filter(
    (field) =>
      field !== counting &&
      (ref[field] ?? "") !== "" &&
      // Beside a commit, a name is in the revision, and the branch without one too.
      !(counting === "commit" && (field === "name" || (field === "branch" && (ref.name ?? "") === ""))),
  );
}

/** The texts with which the names of all refs begin that {@link chooseRef} has to know. */
export function listedPrefixes(ref: WantedRef): readonly string[] {
  const { branch = "", tag = "", name = "" } = ref;
  switch (countingField(ref)) {
    case "commit":
      return branch === "" ? ["HEAD", heads] : [heads + branch];
    case "name":
      return [plainName(name)];
    case "tag":
      return [tagPrefix + tag];
    case "semver":
      return [tagPrefix];
    case "branch":
      return [heads + (branch === "" ? defaultBranch : branch)];
  }
}

/**
 * What `spec.ref` leads to, by commit, name, tag, semver, branch or `master`, whichever is the first that is set. Throws a
 * `RangeError` with Flux's text if there is no such thing.
 *
 * @param committedAt when commits were committed, to choose among tags of equal versions
 */
export async function chooseRef(
  ref: WantedRef,
  refs: readonly GitRef[],
  committedAt: (commits: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  signal: AbortSignal,
): Promise<ChosenRef> {
  const { branch = "", tag = "", name = "", semver = "", commit = "" } = ref;
  const find = (full: string): GitRef | undefined => refs.find((one) => one.name === full);
  switch (countingField(ref)) {
    case "commit":
      return ofCommit(commit, { branch, name }, refs);
    case "name":
      return ofName(name, find(plainName(name)));
    case "tag":
      return ofTag(tag, existing(tagPrefix + tag, find));
    case "semver": {
      const chosen = await chooseVersion(semver, refs, committedAt, signal);
      return ofTag(chosen.name.slice(tagPrefix.length), chosen);
    }
    case "branch": {
      const wanted = branch === "" ? defaultBranch : branch;
      const { oid } = existing(heads + wanted, find);
      return { revision: `${wanted}@${digest(oid)}`, commit: oid };
    }
  }
}

function ofCommit(
  commit: string,
  { branch, name }: { branch: string; name: string },
  refs: readonly GitRef[],
): ChosenRef {
  if (branch !== "" && !refs.some((one) => one.name === heads + branch)) throw missing(heads + branch);
  const oid = commit.toLowerCase();
  if (!isOid(oid)) throw new RangeError(`unable to resolve commit object for '${commit}': object not found`);
  const named = name === "" ? branch : name;
  const wholes = refs.filter((one) => branch === "" || one.name === heads + branch);
  const within = [...new Set(wholes.map(({ oid }) => oid))];
  return { revision: named === "" ? digest(oid) : `${named}@${digest(oid)}`, commit: oid, within };
}

function ofName(name: string, found: GitRef | undefined): ChosenRef {
  if (name.startsWith("/") || name.endsWith("/")) {
    throw new RangeError(`ref ${name} is invalid; Git refs cannot begin or end with a slash '/'`);
  }
  if (found === undefined) throw new RangeError(`unable to resolve ref '${name}' to a specific commit`);
  const commit = found.peeled ?? found.oid;
  const revision = `${name}@${digest(commit)}`;
  if (!found.name.startsWith(tagPrefix)) return { revision, commit };
  return { ...ofTag(found.name.slice(tagPrefix.length), found), revision };
}

function ofTag(name: string, { oid, peeled }: GitRef): ChosenRef {
  const commit = peeled ?? oid;
  return { revision: `${name}@${digest(commit)}`, commit, tag: { name, ...(peeled === undefined ? {} : { oid }) } };
}

function existing(name: string, find: (name: string) => GitRef | undefined): GitRef {
  const found = find(name);
  if (found === undefined) throw missing(name);
  return found;
}

/** A ref that the repository does not have. */
export class MissingRef extends RangeError {}

function missing(name: string): MissingRef {
  return new MissingRef(`couldn't find remote ref "${name}"`);
}

/** The tag with the highest version in the range; of equal versions the one that was committed last. */
async function chooseVersion(
  semver: string,
  refs: readonly GitRef[],
  committedAt: (commits: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  signal: AbortSignal,
): Promise<GitRef> {
  const isInRange = await rangeOf(semver);
  let best: { readonly version: SemverVersion; readonly refs: GitRef[] } | undefined;
  const look = (ref: GitRef): void => {
    const version = ref.name.startsWith(tagPrefix) ? parseSemver(ref.name.slice(tagPrefix.length)) : undefined;
    if (version === undefined || !isInRange(version)) return;
    const order = best === undefined ? 1 : compareSemver(version, best.version);
    if (order > 0) best = { version, refs: [ref] };
    else if (order === 0) best?.refs.push(ref);
  };
  if (!(await inTimeSlices(refs, look, maxChoosingMs, signal))) {
    throw new RangeError(`semver takes more than ${maxChoosingMs / 1_000} s for ${refs.length} tags`);
  }
  const [first, ...others] = best?.refs ?? [];
  if (first === undefined) throw new RangeError(`no match found for semver: ${semver}`);
  if (others.length === 0) return first;
  const commitOf = ({ oid, peeled }: GitRef): string => peeled ?? oid;
  const times = await committedAt([first, ...others].map(commitOf));
  const time = (ref: GitRef): number => times.get(commitOf(ref)) ?? 0;
  // Equal in time too: the later name, so that the choice is stable.
  const isLater = (a: GitRef, b: GitRef): boolean => time(a) > time(b) || (time(a) === time(b) && a.name > b.name);
  return others.reduce((chosen, ref) => (isLater(ref, chosen) ? ref : chosen), first);
}

async function rangeOf(semver: string): Promise<(version: SemverVersion) => boolean> {
  // With a matcher of regular expressions that is a tenth of what a function would load at its start.
  const { parseSemverRange } = await import("../semver-range.ts");
  try {
    return parseSemverRange(semver);
  } catch (error) {
    throw new RangeError(`semver parse error: ${messageOf(error)}`, { cause: error });
  }
}

/** Without the suffix that asks for the commit of a tag, which is what we answer anyway. */
function plainName(name: string): string {
  return name.endsWith(peel) ? name.slice(0, -peel.length) : name;
}

function digest(oid: string): string {
  return `sha1:${oid}`;
}
