import type { GitRepositorySpec } from "../../api/git-repository.ts";
import { type CheckedOut, checkOut } from "../../sources/git/checkout/check-out.ts";
import { CheckoutFault } from "../../sources/git/checkout/checkout-fault.ts";
import { parseGitmodules, sharesLogin, submoduleUrl, withLoginOf } from "../../sources/git/checkout/gitmodules.ts";
import type { WorkTree } from "../../sources/git/checkout/work-tree.ts";
import { GitFault } from "../../sources/git/git-fault.ts";
import { parseCommit } from "../../sources/git/git-object.ts";
import { defaultGitLimits, type GitLimits, type GitObjects, type GitRemote } from "../../sources/git/git-remote.ts";
import type { TreeBudget } from "../../sources/git/git-tree.ts";
import type { SourceContext } from "../source/source-context.ts";
import { gitFailure, shownUrl } from "./git-failure.ts";
import { gitTimeoutMs, type OpenRepository } from "./open-repository.ts";

/** As Flux, where what is deeper stays an empty folder; here it is refused. */
export const maxSubmoduleDepth = 10;
/** The limit for the submodules of one revision, at all depths together. */
export const maxSubmodules = 100;

/** A repository that is checked out, and where it lies in the work tree. */
interface Parent {
  readonly url: string;
  /** Path of its root in the work tree, with a slash at its end; empty for the outermost. */
  readonly root: string;
  readonly objects: GitObjects;
  readonly checkedOut: CheckedOut;
  readonly depth: number;
}

/** What a run needs to fetch submodules. */
export interface Fetching {
  readonly spec: GitRepositorySpec;
  readonly open: OpenRepository;
  /** Holds all objects until the tree is packed. */
  readonly opened: AsyncDisposableStack;
  /** The remaining entries and paths, after those of the outermost repository. */
  readonly budget: TreeBudget;
  readonly ctx: SourceContext;
}

/**
 * Puts the files of all submodules into the work tree, at the commits that the tree names. Throws a `Failure` that names the
 * submodule.
 */
export async function placeSubmodules(
  tree: WorkTree,
  outermost: Omit<Parent, "depth" | "root">,
  fetching: Fetching,
): Promise<void> {
  const waiting: Parent[] = [{ ...outermost, root: "", depth: 0 }];
  const costs = costsOf(outermost.objects, fetching);
  let count = 0;
  for (let parent = waiting.shift(); parent !== undefined; parent = waiting.shift()) {
    const { gitlinks, gitmodules } = parent.checkedOut;
    if (gitlinks.length === 0) continue;
    const named = gitmodules === undefined ? [] : parseGitmodules((await parent.objects.read(gitmodules)).bytes);
    const byPath = new Map(named.map((submodule) => [submodule.path, submodule]));
    for (const { path, commit } of gitlinks) {
      // An empty folder in its place would be pruned from clusters.
      const submodule = byPath.get(path);
      if (submodule === undefined) throw unnamed(parent.root, path);
      if (parent.depth >= maxSubmoduleDepth) {
        throw new CheckoutFault(
          `submodule '${parent.root}${path}' is nested more than ${maxSubmoduleDepth} submodules deep`,
        );
      }
      if (++count > maxSubmodules) throw new CheckoutFault(`the revision has more than ${maxSubmodules} submodules`);
      const root = `${parent.root}${path}/`;
      const url = submoduleUrl(submodule, parent.url);
      const { objects, checkedOut } = await fetchSubmodule({ url, parent: parent.url, root, commit }, costs, fetching);
      for (const entry of checkedOut.tree.values()) {
        const at = root + entry.path;
        tree.set(at, { ...entry, path: at });
      }
      waiting.push({ url, root, objects, checkedOut, depth: parent.depth + 1 });
    }
  }
}

function unnamed(root: string, path: string): CheckoutFault {
  const mend = `name it with its path and url in ${root}.gitmodules, or remove it with 'git rm --cached ${path}'`;
  return new CheckoutFault(`no url found for submodule '${root}${path}': ${mend}`);
}

/** The budget of a revision's submodules together: its packs are on one disk at the same time. */
interface Costs {
  /** Throws a `GitFault` if nothing is left. */
  left(): Pick<GitLimits, "maxPackBytes" | "timeoutMs">;
  add(objects: GitObjects): void;
}

function costsOf(outermost: GitObjects, { spec, ctx }: Fetching): Costs {
  const { clock } = ctx.deps;
  const end = clock.monotonic() + gitTimeoutMs(spec);
  const { maxPackBytes } = defaultGitLimits;
  let packedBytes = outermost.packedBytes;
  const check = (): void => {
    if (packedBytes <= maxPackBytes) return;
    throw new GitFault("too-large", `the packs of the revision have more than ${maxPackBytes} bytes together`);
  };
  return {
    left() {
      check();
      const timeoutMs = Math.ceil(end - clock.monotonic());
      if (timeoutMs > 0) return { maxPackBytes: maxPackBytes - packedBytes, timeoutMs };
      throw new GitFault("timeout", `the submodules took longer together than spec.timeout, ${spec.timeout}`);
    },
    add(objects) {
      packedBytes += objects.packedBytes;
      check();
    },
  };
}

async function fetchSubmodule(
  {
    url,
    parent,
    root,
    commit,
  }: { readonly url: string; readonly parent: string; readonly root: string; readonly commit: string },
  costs: Costs,
  { spec, open, opened, budget, ctx }: Fetching,
): Promise<{ readonly objects: GitObjects; readonly checkedOut: CheckedOut }> {
  const { signal } = ctx.run;
  const where = `submodule '${root.slice(0, -1)}' at '${shownUrl(url)}'`;
  try {
    const isSame = sharesLogin(url, spec.url) && sharesLogin(url, parent);
    const remote = opened.use(
      await open(isSame ? withLoginOf(parent, url) : url, isSame ? spec : withoutLogin(spec), ctx, costs.left()),
    );
    const objects = opened.use(await fetchCommit(remote, commit, signal));
    costs.add(objects);
    const { type, bytes } = await objects.read(commit);
    if (type !== "commit") throw new GitFault("missing", `object ${commit} is a ${type}, not a commit`);
    return { objects, checkedOut: await checkOut(objects, parseCommit(bytes).tree, { root, budget, signal }) };
  } catch (error) {
    throw gitFailure(error, `unable to clone '${shownUrl(spec.url)}': ${where}`, signal);
  }
}

/** Most servers send a commit by its id. Others send only one that is in the history of a ref. */
async function fetchCommit(remote: GitRemote, commit: string, signal: AbortSignal): Promise<GitObjects> {
  try {
    return await remote.fetch([commit], {}, signal);
  } catch (error) {
    if (!(error instanceof GitFault && error.reason === "missing")) throw error;
    const refs = await remote.list(["HEAD", "refs/heads/"], signal);
    return remote.fetch([commit], { within: [...new Set(refs.map(({ oid }) => oid))] }, signal);
  }
}

/** The spec without anything that logs in: it is for the host of the repository alone. */
function withoutLogin({
  secretRef: _secret,
  provider: _provider,
  serviceAccountName: _account,
  ...spec
}: GitRepositorySpec) {
  return spec;
}
