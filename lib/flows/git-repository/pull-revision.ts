import type { GitRepositorySpec } from "../../api/git-repository.ts";
import { digestOf } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import { archiveUnread } from "../../sources/archive/archive-tree.ts";
import { followLinks, type LinkedTree } from "../../sources/archive/follow-links.ts";
import type { ArchiveLimits } from "../../sources/archive/unpack.ts";
import { checkOut, within } from "../../sources/git/checkout/check-out.ts";
import { CheckoutFault } from "../../sources/git/checkout/checkout-fault.ts";
import { confined, type WorkTree } from "../../sources/git/checkout/work-tree.ts";
import type { ChosenRef } from "../../sources/git/choose-ref.ts";
import { GitFault } from "../../sources/git/git-fault.ts";
import { type GitCommit, parseCommit, subjectOf } from "../../sources/git/git-object.ts";
import type { FetchOptions, GitObjects, GitRemote } from "../../sources/git/git-remote.ts";
import { maxTreePathBytes, maxTreePathsBytes, treeBudget } from "../../sources/git/git-tree.ts";
import type { SourceContext } from "../source/source-context.ts";
import type { Pulled } from "../source/source-kind.ts";
import { gitFailure, revisionFailure, shownUrl } from "./git-failure.ts";
import { type Included, placeIncludes } from "./includes.ts";
import type { OpenRepository } from "./open-repository.ts";
import { placeSubmodules } from "./submodules.ts";
import { verifyRevision } from "./verification.ts";

/** The inputs of a revision. */
interface Pulling {
  readonly remote: GitRemote;
  /** For submodules. */
  readonly open: OpenRepository;
  readonly limits: ArchiveLimits;
  readonly announce: () => Promise<void>;
}

/** Fetches a revision without its history and packs its files. Throws a `Failure` with Flux's text. */
export async function pullRevision(
  chosen: ChosenRef,
  spec: GitRepositorySpec,
  included: readonly Included[],
  { remote, open, limits, announce }: Pulling,
  ctx: SourceContext,
): Promise<Pulled> {
  const { signal } = ctx.run;
  const cloning = `unable to clone '${shownUrl(spec.url)}'`;
  try {
    await using opened = new AsyncDisposableStack();
    const folders = wantedFolders(spec);
    const objects = opened.use(await fetchRevision(chosen, spec, { remote, folders }, signal));
    const commit = await commitOf(objects, chosen, spec);
    const budget = treeBudget();
    const checkedOut = await checkOut(objects, commit.tree, { folders, budget, signal });
    const { tree } = checkedOut;
    refuseMissingFolders(spec, tree);
    const sourceVerificationMode = await verifyRevision(spec.verify, { ...chosen, objects }, ctx);
    if (spec.recurseSubmodules === true) {
      await placeSubmodules(tree, { url: spec.url, objects, checkedOut }, { spec, open, opened, budget, ctx });
    }
    await announce();
    await placeIncludes(tree, included, limits, ctx);
    const entries = within(await followLinks(linkedTree(tree, limits), signal), limits);
    const bytes = await archiveUnread(entries, spec.ignore, signal);
    const message = `stored artifact for commit '${subjectOf(commit)}'`;
    const observed = { sourceVerificationMode };
    return { bytes, digest: digestOf(bytes), metadata: {}, links: [], message, observed };
  } catch (error) {
    if (error instanceof RangeError) {
      const why = `failed to load source ignore patterns from repository: ${error.message}`;
      throw new Failure("SourceIgnoreError", why, { cause: error });
    }
    throw gitFailure(error, cloning, signal);
  }
}

function linkedTree(entries: WorkTree, { maxEntries }: Pick<ArchiveLimits, "maxEntries">): LinkedTree {
  return {
    entries,
    root: "repository",
    whole: "revision",
    mend: "put a file in its place, or leave it out with spec.ignore",
    maxEntries,
    maxPathBytes: maxTreePathBytes,
    maxPathsBytes: maxTreePathsBytes,
    fault: (text) => new CheckoutFault(text),
  };
}

async function fetchRevision(
  { commit, tag, within: histories }: ChosenRef,
  spec: GitRepositorySpec,
  { remote, folders }: { readonly remote: GitRemote; readonly folders: readonly string[] | undefined },
  signal: AbortSignal,
): Promise<GitObjects> {
  const options: FetchOptions = {
    ...(histories === undefined ? {} : { within: histories }),
    ...(folders === undefined ? {} : { folders }),
  };
  try {
    const isTagWanted = spec.verify !== undefined && tag?.oid !== undefined;
    return await remote.fetch([commit, ...(isTagWanted ? [tag.oid] : [])], options, signal);
  } catch (error) {
    if (error instanceof GitFault && error.reason === "missing") throw notFound(commit, spec, error);
    throw error;
  }
}

/** The folders of `spec.sparseCheckout`; undefined for everything. */
function wantedFolders({ sparseCheckout = [] }: GitRepositorySpec): readonly string[] | undefined {
  const folders = sparseCheckout.map(confined);
  return folders.length === 0 || folders.includes("") ? undefined : folders;
}

/** Each wanted folder has to be there; a file counts too (reference 2.5). */
function refuseMissingFolders({ sparseCheckout = [] }: GitRepositorySpec, tree: WorkTree): void {
  const missing = sparseCheckout.find((path) => confined(path) !== "" && !isThere(path, tree));
  if (missing === undefined) return;
  const why = `sparse checkout dir '${missing}' does not exist in repository: lstat ${confined(missing)}: no such file or directory`;
  throw new Failure("GitOperationFailed", `failed to sparse checkout directories : ${why}`);
}

/** Flux looks for the paths of the repository with this prefix: none has a leading slash, a `..` or an empty part. */
function isThere(path: string, tree: WorkTree): boolean {
  const plain = path.replace(/^\.\//, "");
  const found = tree.get(confined(path));
  return found !== undefined && (plain === found.path || (found.type === "directory" && plain === `${found.path}/`));
}

async function commitOf(objects: GitObjects, { commit }: ChosenRef, spec: GitRepositorySpec): Promise<GitCommit> {
  const { type, bytes } = await objects.read(commit);
  if (type !== "commit") throw notFound(commit, spec);
  return parseCommit(bytes);
}

function notFound(commit: string, { ref = {} }: GitRepositorySpec, cause?: unknown): Failure {
  const what = (ref.commit ?? "") === "" ? `HEAD '${commit}'` : `'${commit}'`;
  return revisionFailure(`unable to resolve commit object for ${what}: object not found`, cause);
}
