import { isTrue } from "../../api/condition.ts";
import type { GitRepositorySpec } from "../../api/git-repository.ts";
import { Failure } from "../../core/failure.ts";
import { type ChosenRef, chooseRef, countingField, listedPrefixes, MissingRef } from "../../sources/git/choose-ref.ts";
import { GitFault } from "../../sources/git/git-fault.ts";
import { parseCommit, subjectOf } from "../../sources/git/git-object.ts";
import type { GitObjects, GitRef, GitRemote } from "../../sources/git/git-remote.ts";
import type { SourceContext } from "../source/source-context.ts";
import { gitFailure, revisionFailure, shownUrl } from "./git-failure.ts";

/**
 * The commit that `spec.ref` points to now, from one list of the remote's refs. Throws a `Failure` with Flux's text; Flux lists only
 * some refs, and only while it has an artifact, and clones otherwise.
 */
export async function findRevision(spec: GitRepositorySpec, remote: GitRemote, ctx: SourceContext): Promise<ChosenRef> {
  const { signal } = ctx.run;
  const ref = spec.ref ?? {};
  const field = countingField(ref);
  const { artifact, conditions = [] } = ctx.status();
  const hasArtifact = artifact !== undefined && isTrue(conditions, "ArtifactInStorage");
  const isListed = field === "name" || (hasArtifact && (field === "branch" || field === "tag"));
  const url = shownUrl(spec.url);
  const doing = isListed ? `unable to list remote for '${url}'` : `unable to clone '${url}'`;

  const list = async (prefixes: readonly string[]): Promise<readonly GitRef[]> =>
    remote.list(prefixes, signal).catch((error: unknown) => {
      throw gitFailure(error, doing, signal);
    });
  const refs = await list(listedPrefixes(ref));
  // A repository without what is wanted may be one without anything.
  if (refs.length === 0 && (await list([])).length === 0) {
    if (field === "branch" && !isListed) throw new Failure("EmptyGitRepository", "git repository is empty");
    const empty = "remote repository is empty";
    throw revisionFailure(isListed ? `${doing}: ${empty}` : `unable to clone: ${empty}: git repository: '${url}'`);
  }
  try {
    return await chooseRef(ref, refs, (commits) => committedAt(commits, remote, signal), signal);
  } catch (error) {
    if (error instanceof MissingRef) throw revisionFailure(`unable to clone '${url}': ${error.message}`, error);
    if (error instanceof RangeError) throw revisionFailure(error.message, error);
    throw gitFailure(error, `unable to clone '${url}'`, signal);
  }
}

/** When commits were committed. An id stands for the same commit for ever, so each is asked for once. */
const known = new Map<string, number>();
const maxKnown = 10_000;

/** A text of its own: one that was cut out of a line keeps the whole line in memory. */
function unshared(oid: string): string {
  return Buffer.from(oid, "latin1").toString("latin1");
}

/** When these commits were committed, in seconds since 1970. */
export async function committedAt(
  commits: readonly string[],
  remote: GitRemote,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const unknown = commits.filter((oid) => !known.has(oid));
  if (unknown.length > 0) {
    await using objects = await fetchCommits(remote, unknown, signal);
    for (const oid of unknown) {
      const { type, bytes } = await objects.read(oid);
      if (known.size >= maxKnown) known.clear();
      known.set(unshared(oid), type === "commit" ? parseCommit(bytes).committedAt : 0);
    }
  }
  return new Map(commits.map((oid) => [oid, known.get(oid) ?? 0]));
}

/** A server with filters sends no file for a missing folder. */
function fetchCommits(remote: GitRemote, commits: readonly string[], signal: AbortSignal): Promise<GitObjects> {
  return remote.fetch(commits, { folders: [".git"] }, signal);
}

/** The message of a commit. Throws a `GitFault`. */
export async function messageAt(remote: GitRemote, commit: string, signal: AbortSignal): Promise<string> {
  await using objects = await fetchCommits(remote, [commit], signal);
  return parseCommit((await objects.read(commit)).bytes).message;
}

/** The subject of a commit, for users; `otherwise` if the server no longer has the commit. */
export async function subjectAt(
  remote: GitRemote,
  commit: string,
  otherwise: string,
  { run: { signal } }: SourceContext,
): Promise<string> {
  try {
    await using objects = await fetchCommits(remote, [commit], signal);
    return subjectOf(parseCommit((await objects.read(commit)).bytes));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GitFault)) throw error;
    return otherwise;
  }
}
