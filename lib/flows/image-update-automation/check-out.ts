import { posix } from "node:path";
import type { GitRepositorySpec } from "../../api/git-repository.ts";
import { Failure } from "../../core/failure.ts";
import { type ChosenRef, chooseRef, listedPrefixes, MissingRef } from "../../sources/git/choose-ref.ts";
import { GitFault } from "../../sources/git/git-fault.ts";
import type { GitRef } from "../../sources/git/git-remote.ts";
import type { GitClone } from "../../sources/git/write/git-clone.ts";
import { isRefName } from "../../sources/git/write/refspec.ts";
import { committedAt } from "../git-repository/find-revision.ts";
import { gitWords, shownUrl } from "../git-repository/git-failure.ts";
import { gitTimeoutMs } from "../git-repository/open-repository.ts";
import type { AutomationContext, AutomationRepository, CloneAt } from "./automation-context.ts";
import type { ResolvedSource } from "./resolve-source.ts";

const heads = "refs/heads/";

/** The commit that a run works on. */
export interface CheckedOut {
  /** The commit that was checked out, as the status shows it: `main@sha1:…`. */
  readonly revision: string;
  readonly commit: string;
  /** At the head of the branch that is pushed, or at the commit where the server has no such branch. */
  readonly clone: GitClone;
  /** Whether only the files below `spec.update.path` could be fetched. */
  readonly isPartial: boolean;
}

interface Wanted {
  /** The revision of the last run, which is not cloned again. */
  readonly skipIf: string | undefined;
  /** `spec.update.path`. */
  readonly path: string;
}

/**
 * Finds the commit to check out, and clones it; where commits go to another branch that exists, its head. Throws a {@link Failure}
 * `GitOperationFailed` in Flux's words.
 */
export async function checkOut(
  source: ResolvedSource,
  { skipIf, path }: Wanted,
  ctx: AutomationContext,
): Promise<CheckedOut | "unchanged"> {
  const { spec, repository, branch, isSwitched } = source;
  const url = shownUrl(spec.url);
  const doing = skipIf === undefined ? `unable to clone '${url}'` : `unable to list remote for '${url}'`;
  const [bounded, wrapped] = inTime(spec, ctx.run.signal);
  return wrapped(async () => {
    const listed = await repository.remote.list(prefixesOf(source), bounded).catch(inWords(doing));
    if (listed.length === 0 && (await repository.remote.list([], bounded).catch(inWords(doing))).length === 0) {
      throw checkoutFailed(`unable to clone '${url}': remote repository is empty`);
    }
    const chosen = await choose(source, listed, bounded);
    const revision = chosen.revision.replace(/^refs\/[^/]+\//, "");
    if (revision === skipIf) return "unchanged";
    if (isSwitched && !isRefName(heads + branch)) {
      throw checkoutFailed(`could not checkout to branch '${branch}': invalid reference name`);
    }
    const existing = isSwitched ? listed.find(({ name }) => name === heads + branch)?.oid : undefined;
    const at = { checkout: existing ?? chosen.commit, listed, within: chosen.within ?? [] };
    const cloned = await cloneOf(at, path, repository, bounded).catch(inWords(`unable to clone '${url}'`));
    return { revision, commit: chosen.commit, ...cloned };
  });
}

/** Clones all files; if that pack is too large, only those below the path. */
async function cloneOf(
  at: CloneAt,
  path: string,
  repository: AutomationRepository,
  signal: AbortSignal,
): Promise<Pick<CheckedOut, "clone" | "isPartial">> {
  const folder = posix.join("/", path).replaceAll(/^\/+|\/+$/g, "");
  try {
    return { clone: await repository.clone(at, signal), isPartial: false };
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    if (folder === "") throw withMend(error, "name the folder of the files with markers in spec.update.path");
  }
  try {
    return { clone: await repository.clone({ ...at, folders: [folder] }, signal), isPartial: true };
  } catch (error) {
    throw isTooLarge(error) ? withMend(error, smallerPart) : error;
  }
}

function isTooLarge(error: unknown): error is GitFault {
  return error instanceof GitFault && error.reason === "too-large";
}

/** A server that cannot leave out files sends all of them, so the same fault may have either cause. */
const smallerPart =
  "name a smaller folder in spec.update.path, let the git server allow partial clones (uploadpack.allowFilter)";

function withMend(fault: GitFault, mend: string): GitFault {
  const text = `${fault.message}: ${mend}, or keep the files with markers in a smaller repository`;
  return new GitFault(fault.reason, text, { cause: fault });
}

/** All references that matter: the checked-out one, the branch to push, and those in the refspec. */
function prefixesOf({ ref, branch, refspec = "" }: ResolvedSource): readonly string[] {
  const target = refspec.slice(refspec.indexOf(":") + 1);
  // A part that does not end is asked for as far as it goes.
  const [stem = ""] = target.split("*", 1);
  return [...new Set([...listedPrefixes(ref), heads + branch, ...(stem.startsWith("refs/") ? [stem] : [])])];
}

async function choose(
  { ref, spec, repository }: ResolvedSource,
  listed: readonly GitRef[],
  signal: AbortSignal,
): Promise<ChosenRef> {
  const unable = `unable to clone '${shownUrl(spec.url)}'`;
  try {
    return await chooseRef(ref, listed, (commits) => committedAt(commits, repository.remote, signal), signal);
  } catch (error) {
    if (error instanceof MissingRef) throw checkoutFailed(`${unable}: ${error.message}`, error);
    if (error instanceof RangeError) throw checkoutFailed(error.message, error);
    if (error instanceof GitFault) throw checkoutFailed(`${unable}: ${gitWords(error)}`, error);
    throw error;
  }
}

function inWords(doing: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof GitFault ? checkoutFailed(`${doing}: ${gitWords(error)}`, error) : error;
  };
}

function checkoutFailed(why: string, cause?: unknown): Failure {
  return new Failure("GitOperationFailed", `failed to checkout source: ${why}`, { cause });
}

/** One signal for a whole checkout, and the function that runs it: Flux limits it by `spec.timeout`. */
function inTime(spec: GitRepositorySpec, signal: AbortSignal) {
  const timeout = AbortSignal.timeout(gitTimeoutMs(spec));
  const run = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!timeout.aborted || error instanceof Failure) throw error;
      throw checkoutFailed(`no end within spec.timeout of the GitRepository, ${spec.timeout}`, error);
    }
  };
  return [AbortSignal.any([signal, timeout]), run] as const;
}
