import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { someOf } from "../../core/cut-text.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { equal } from "../../core/json.ts";
import { kubernetesTime } from "../../core/kubernetes-time.ts";
import { type ChangedFile, setInTree } from "../../image/setters/set-in-tree.ts";
import { GitFault } from "../../sources/git/git-fault.ts";
import { messageAt } from "../git-repository/find-revision.ts";
import type { AutomationContext } from "./automation-context.ts";
import { type Observed, pendingPush } from "./automation-status.ts";
import { type CheckedOut, checkOut } from "./check-out.ts";
import { lacksPullRequest } from "./pull-request.ts";
import { BranchMoved, type Pushed, pushAgain, pushChanges } from "./push-changes.ts";
import type { ResolvedSource } from "./resolve-source.ts";
import { imagesBySetter, type ObservedPolicies } from "./select-policies.ts";
import { lastSettings, settingsDigest } from "./settings-digest.ts";

/** The result of a run for a repository. */
export type Updated =
  /** Neither policies nor repository have changed since the last run, so nothing was read. */
  | { readonly kind: "skipped" }
  | { readonly kind: "unchanged"; readonly observed: Observed; readonly isNews: boolean }
  | { readonly kind: "pushed"; readonly observed: Observed; readonly pushed: Pushed }
  /** The last run has pushed, and its pull request failed. */
  | { readonly kind: "unrequested"; readonly observed: Observed; readonly pushed: Pushed };

/** Attempts of one run at a branch to which others push at the same time. */
const maxAttempts = 3;

/**
 * Writes the policies' choices to a repository, by at most one commit. If the branch moves in the meantime, everything is done again
 * on its new head. Throws a {@link Failure}.
 */
export async function updateSource(
  spec: ImageUpdateAutomationSpec,
  source: ResolvedSource,
  policies: ObservedPolicies,
  ctx: AutomationContext,
): Promise<Updated> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await updateOnce(spec, source, policies, ctx);
    } catch (error) {
      if (!(error instanceof BranchMoved)) throw error;
      ctx.deps.log.info("branch moved during a run", { ...ctx.run.key, branch: source.branch, attempt });
      if (attempt < maxAttempts) continue;
      const message = `failed to update source: failed to push to remote: ${error.message}`;
      throw new Failure("GitOperationFailed", message, { cause: error });
    }
  }
}

async function updateOnce(
  spec: ImageUpdateAutomationSpec,
  source: ResolvedSource,
  policies: ObservedPolicies,
  ctx: AutomationContext,
): Promise<Updated> {
  const { before, passed } = ctx;
  const wanted = { skipIf: revisionToSkip(spec, source, policies, ctx), path: spec.update.path ?? "" };
  const checkedOut = await checkOut(source, wanted, ctx);
  passed.add("checkout");
  if (checkedOut === "unchanged") return { kind: "skipped" };
  await using clone = checkedOut.clone;
  const changed = await setImages(spec, policies, checkedOut, ctx);
  passed.add("update");
  // Checked by `resolveSource`.
  const pushed =
    changed.length === 0 || spec.git === undefined
      ? undefined
      : await pushChanges(spec.git, source, clone, changed, ctx);
  passed.add("push");
  const done = pushed ?? (await pushedBefore(source, checkedOut, ctx));
  const observedPolicies = { ...policies };
  const { revision } = checkedOut;
  if (done === undefined) {
    const isNews =
      isElsewhere(source) ||
      revision !== before.observedSourceRevision ||
      !equal(before.observedPolicies, observedPolicies);
    const observed = { observedPolicies, observedSourceRevision: revision };
    if (lacksPullRequest(ctx) && clone.head !== undefined) {
      const message = await messageOfCommit(clone.head, source, ctx);
      return { kind: "unrequested", observed, pushed: { commit: clone.head, message } };
    }
    return { kind: "unchanged", observed, isNews };
  }
  const observed = {
    observedPolicies,
    observedSourceRevision: source.isSwitched ? revision : `${source.branch}@sha1:${done.commit}`,
    lastPushCommit: done.commit,
    lastPushTime: kubernetesTime(ctx.now().at),
  };
  return { kind: "pushed", observed, pushed: done };
}

/**
 * The revision that needs no look at its files, since the last run has left nothing to do in it. Undefined where something else may have
 * changed what is to be written: the policies, the settings, the branch that is pushed.
 */
function revisionToSkip(
  spec: ImageUpdateAutomationSpec,
  source: ResolvedSource,
  policies: ObservedPolicies,
  ctx: AutomationContext,
): string | undefined {
  const { before, run } = ctx;
  const isSpecNew = before.observedGeneration !== ctx.now().generation && lastSettings(run) !== settingsDigest(spec);
  const isNew = isSpecNew || !equal(before.observedPolicies ?? {}, policies);
  const isPending = pendingPush(before) !== undefined;
  return isElsewhere(source) || isNew || isPending ? undefined : before.observedSourceRevision;
}

/** Whether more than the checked-out branch is pushed: that may have changed too. */
function isElsewhere({ isSwitched, refspec }: ResolvedSource): boolean {
  return isSwitched || refspec !== undefined;
}

const linkOutside =
  "the repository is so large that only the files below spec.update.path are fetched, and a link leads out of it: name a folder that has the file too, or the folder that the link leads to";

async function setImages(
  { update }: ImageUpdateAutomationSpec,
  policies: ObservedPolicies,
  { clone, isPartial }: CheckedOut,
  { deps, namespace, run }: AutomationContext,
): Promise<readonly ChangedFile[]> {
  try {
    const images = imagesBySetter(policies, namespace);
    const { files, unreadable } = await setInTree(clone, update.path ?? "", images, run.signal);
    if (unreadable.length > 0)
      deps.log.info("files with markers are not YAML", { ...run.key, files: someOf(unreadable, 10) });
    return files;
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof GitFault || error instanceof RangeError)) throw error;
    const isOutside = isPartial && error instanceof GitFault && error.reason === "missing";
    const why = isOutside ? linkOutside : messageOf(error);
    throw new Failure("UpdateFailed", `failed to apply policies: ${why}`, { cause: error });
  }
}

/** The push of a run that did not report its end. The push has reached the server if its commit is the head of the branch. */
async function pushedBefore(
  source: ResolvedSource,
  { clone }: CheckedOut,
  ctx: AutomationContext,
): Promise<Pushed | undefined> {
  const pending = pendingPush(ctx.before);
  if (pending === undefined || pending.branch !== source.branch || pending.commit !== clone.head) return undefined;
  if (pending.commit === ctx.before.lastPushCommit) return undefined;
  await pushAgain(source, clone, ctx);
  const { commit } = pending;
  return { commit, message: await messageOfCommit(commit, source, ctx) };
}

/** Empty if the server no longer has the commit. */
async function messageOfCommit(commit: string, source: ResolvedSource, { run }: AutomationContext): Promise<string> {
  return messageAt(source.repository.remote, commit, run.signal).catch((error: unknown) => {
    run.signal.throwIfAborted();
    if (!(error instanceof GitFault)) throw error;
    return "";
  });
}
