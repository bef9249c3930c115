import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { commitMessage } from "../../image/commit-message.ts";
import type { ChangedFile } from "../../image/setters/set-in-tree.ts";
import { GitFault } from "../../sources/git/git-fault.ts";
import type { GitClone } from "../../sources/git/write/git-clone.ts";
import { readRefspec } from "../../sources/git/write/refspec.ts";
import { gitWords } from "../git-repository/git-failure.ts";
import type { AutomationContext } from "./automation-context.ts";
import { pushing } from "./automation-status.ts";
import type { ResolvedSource } from "./resolve-source.ts";

const heads = "refs/heads/";

/** A commit that was pushed. */
export interface Pushed {
  readonly commit: string;
  readonly message: string;
  /** Not known of the push of an earlier run. */
  readonly changes?: readonly ChangedFile[];
}

/** Another client has moved the branch since it was cloned. Nothing was changed: the run may begin again. */
export class BranchMoved extends Error {
  override readonly name = "BranchMoved";
}

/**
 * Commits these files and pushes the commit to the branch, then by the refspec. Undefined if the files are what they were. Throws a
 * {@link Failure} in Flux's words, or {@link BranchMoved}.
 */
export async function pushChanges(
  git: ImageUpdateAutomationSpec["git"] & {},
  source: ResolvedSource,
  clone: GitClone,
  changed: readonly ChangedFile[],
  ctx: AutomationContext,
): Promise<Pushed | undefined> {
  const { deps, namespace, name, run } = ctx;
  const { author, messageTemplate, messageTemplateValues } = git.commit;
  const of = {
    cluster: run.key.cluster,
    automation: { namespace, name },
    values: messageTemplateValues ?? {},
    changes: changed,
  };
  const message = await commitMessage(messageTemplate, of, deps.messages, run.signal);
  const before = clone.head;
  const commit = await clone
    .commit(
      {
        files: new Map(changed.map(({ pathFromRoot, content }) => [pathFromRoot, content])),
        message,
        author: { name: author.name ?? "", email: author.email, at: deps.clock.now() },
        ...(source.sign === undefined ? {} : { sign: source.sign }),
      },
      run.signal,
    )
    .catch((error: unknown) => {
      throw error instanceof GitFault || error instanceof RangeError ? updateFailed(messageOf(error), error) : error;
    });
  if (commit === before) return undefined;
  // A run that is killed during the push leaves a record of it.
  const doing = ctx.status();
  ctx.setStatus(pushing(doing, { commit, branch: source.branch }, ctx.now()));
  await ctx.publish();
  try {
    await push(source, clone, ctx);
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof GitFault)) throw error;
    // The server has answered that the branch is where it was.
    if (error.reason === "moved" || error.reason === "refused") ctx.setStatus(doing);
    if (await isMoved(error, source, before, ctx)) throw new BranchMoved(error.message, { cause: error });
    throw pushFailed(error);
  }
  await pushByRefspec(source, clone, doing, ctx);
  return { commit, message, changes: changed };
}

async function push({ branch, options }: ResolvedSource, clone: GitClone, { run }: AutomationContext): Promise<void> {
  // The commit follows the head of the branch, or the branch is new: there is nothing to force.
  await clone.push([{ ref: heads + branch, force: false }], { options }, run.signal);
}

/** Whether another commit is at the head of the branch than the one that was cloned: servers tell a lost race in many words. */
async function isMoved(
  { reason }: GitFault,
  { branch, repository }: ResolvedSource,
  before: string | undefined,
  { run }: AutomationContext,
): Promise<boolean> {
  if (reason !== "refused") return reason === "moved";
  try {
    const now = await repository.remote.list([heads + branch], run.signal);
    const head = now.find(({ name }) => name === heads + branch)?.oid;
    return head !== undefined && head !== before;
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof GitFault)) throw error;
    return false;
  }
}

/** Pushes by the refspec what an earlier run has pushed to the branch, before it ended without a word. */
export async function pushAgain(source: ResolvedSource, clone: GitClone, ctx: AutomationContext): Promise<void> {
  await pushByRefspec(source, clone, ctx.status(), ctx);
}

/**
 * As in Flux, the branch stays pushed if this fails, and the run does not count as one that has pushed. A refspec that the server has not
 * taken stays pending: the next run pushes by it again, though it finds nothing to change.
 */
async function pushByRefspec(
  { branch, isSwitched, options, refspec }: ResolvedSource,
  clone: GitClone,
  doing: ReturnType<AutomationContext["status"]>,
  ctx: AutomationContext,
): Promise<void> {
  if (refspec === undefined) return;
  let isPending = false;
  try {
    const { ref, force } = readRefspec(refspec, branch);
    isPending = true;
    await clone.push([{ ref, force: force || isSwitched }], { options }, ctx.run.signal);
  } catch (error) {
    ctx.run.signal.throwIfAborted();
    if (!(error instanceof GitFault)) throw error;
    if (!isPending) ctx.setStatus(doing);
    throw pushFailed(error);
  }
}

function pushFailed(fault: GitFault): Failure {
  const doing = "failed to push to remote: ";
  const words = gitWords(fault);
  return updateFailed(words.startsWith(doing) ? words : `${doing}${words}`, fault);
}

function updateFailed(why: string, cause: unknown): Failure {
  return new Failure("GitOperationFailed", `failed to update source: ${why}`, { cause });
}
