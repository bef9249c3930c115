import {
  type GitReference,
  GitRepositorySpec as GitRepositorySchema,
  type GitRepositorySpec,
  GitRepositoryStatus,
  overGitRepositoryLimits,
  unsupportedGitRepositoryFields,
} from "../../api/git-repository.ts";
import { declaredGitRepository } from "../../api/kinds/git-repository.ts";
import type { Artifact } from "../../api/source.ts";
import { Failure } from "../../core/failure.ts";
import type { Follows, Subscription } from "../../core/follows.ts";
import { goUrlFault } from "../../core/go-url-fault.ts";
import type { Flow } from "../../core/ports/run.ts";
import { gitTopic, sourceTopic } from "../../core/topics.ts";
import { defaultArchiveLimits } from "../../sources/archive/unpack.ts";
import { countingField, idleFields, listedPrefixes, tagPrefix } from "../../sources/git/choose-ref.ts";
import type { GitRemote } from "../../sources/git/git-remote.ts";
import { removeConditions } from "../conditions.ts";
import type { EventToRecord } from "../record-event.ts";
import { outdated } from "../source/source-conditions.ts";
import type { SourceContext, SourceDeps } from "../source/source-context.ts";
import { sourceFlow } from "../source/source-flow.ts";
import type { SourceKind } from "../source/source-kind.ts";
import { conditionByReason } from "./condition-by-reason.ts";
import { findRevision, subjectAt } from "./find-revision.ts";
import { shownUrl } from "./git-failure.ts";
import { type Included, includedArtifacts } from "./includes.ts";
import type { OpenRepository } from "./open-repository.ts";
import { pullRevision } from "./pull-revision.ts";
import { expectedMode } from "./verification.ts";

/** The dependencies of the flow of a GitRepository. */
export interface GitRepositoryDeps extends SourceDeps {
  readonly openRepository: OpenRepository;
}

/** The reconcile of a GitRepository. */
export function gitRepositoryFlow(deps: GitRepositoryDeps): Flow {
  return sourceFlow(gitRepositorySource(deps), deps);
}

/** Refuses a spec that only a change of the object mends. Throws a {@link Failure}. */
export function checkGitRepository(spec: GitRepositorySpec): void {
  const fault = goUrlFault(spec.url);
  if (fault !== undefined || !URL.canParse(spec.url)) {
    const shown = shownUrl(spec.url);
    // With an @ behind the host, what Go takes for a port may be a part of a password.
    const isQuotable = fault !== undefined && !/^[^/]*\/\/[^/?#]*[/?#].*@/s.test(spec.url);
    const why = isQuotable ? `parse ${JSON.stringify(shown)}: ${fault}` : "it has no valid host or port";
    throw new Failure("URLInvalid", `failed to parse url '${shown}': ${why}`);
  }
  const tooMuch = overGitRepositoryLimits(spec);
  if (tooMuch.length > 0) throw new Failure("InvalidSpec", `${tooMuch.join("; ")}: use fewer`);
  const fields = unsupportedGitRepositoryFields(spec);
  if (fields.length === 0) return;
  const message = `${fields.join(", ")} is not supported yet: remove it, or leave this GitRepository to Flux until it is`;
  throw new Failure("UnsupportedField", message);
}

function gitRepositorySource({ limits, openRepository }: GitRepositoryDeps): SourceKind<GitRepositorySpec> {
  return {
    declared: declaredGitRepository,
    spec: GitRepositorySchema,
    status: GitRepositoryStatus,
    conditionByReason,
    check: checkGitRepository,
    topics: (spec) => [ownTopic(spec)],
    resolve: async (spec, ctx) => {
      const warning = idleFieldsWarning(spec, ctx);
      if (warning !== undefined) await ctx.record(warning);
      await using opened = new AsyncDisposableStack();
      const opening = await openBeforeIncludes(() => openRepository(spec.url, spec, ctx));
      if (opening.remote !== undefined) opened.use(opening.remote);
      const included = await lookForIncludes(spec, ctx);
      await tellOfIncludes(included, ctx);
      if (opening.remote === undefined) throw opening.unusable;
      const { remote } = opening;
      const chosen = await findRevision(spec, remote, ctx);
      const { revision } = chosen;
      const isListedFirst = !["commit", "semver"].includes(countingField(spec.ref ?? {}));
      const stillOpen = opened.move();
      const pulling = { remote, open: openRepository, limits: limits ?? defaultArchiveLimits };
      return {
        revision,
        file: `${chosen.commit}.tar.gz`,
        observed: observedOf(
          spec,
          included.map(({ artifact }) => artifact),
          ctx,
        ),
        messages: {
          outdated: `new upstream revision '${revision}'`,
          stored: `stored artifact for revision '${revision}'`,
          // As Flux, which has fetched the commit where it does not list the refs first.
          event: async (artifact) =>
            `stored artifact for commit '${isListedFirst ? artifact.revision : await subjectAt(remote, chosen.commit, artifact.revision, ctx)}'`,
          // As in Flux, which takes its short cut only for these; ours is for all.
          ...(isListedFirst ? { unchanged: unchanged(revision) } : {}),
        },
        // Our own identity is for CodeCommit only: its events reach the functions.
        isAnnounced: spec.provider === "aws",
        pull: (announce) => pullRevision(chosen, spec, included, { ...pulling, announce }, ctx),
        close: () => stillOpen.disposeAsync(),
      };
    },
  };
}

/** A failed login is reported before the includes, and errors that only git's client finds after them, as in Flux. */
async function openBeforeIncludes(
  open: () => Promise<GitRemote>,
): Promise<{ readonly remote: GitRemote } | { readonly remote?: undefined; readonly unusable: Failure }> {
  try {
    return { remote: await open() };
  } catch (error) {
    if (!(error instanceof Failure && error.reason === "GitOperationFailed")) throw error;
    return { unusable: error };
  }
}

/** The Warning event for fields of `spec.ref` that change nothing, once for each generation. */
function idleFieldsWarning({ ref = {} }: GitRepositorySpec, ctx: SourceContext): EventToRecord | undefined {
  const { generation } = ctx.now();
  const isTold = (ctx.before.conditions ?? []).some(({ observedGeneration }) => observedGeneration === generation);
  const idle = idleFields(ref);
  if (isTold || idle.length === 0) return undefined;
  const fields = idle.map((field) => `spec.ref.${field}`).join(" and ");
  const message = `${fields} ${idle.length === 1 ? "changes" : "change"} nothing, since spec.ref.${countingField(ref)} takes precedence`;
  return { type: "Warning", reason: "AmbiguousReference", message, annotations: {} };
}

/**
 * The included artifacts. A missing include announces itself, so that the wait for it ends at once; once all exist, their changes
 * wait for the next run, as in Flux (reference 2.6).
 */
async function lookForIncludes(spec: GitRepositorySpec, ctx: SourceContext): Promise<readonly Included[]> {
  try {
    return await includedArtifacts(spec, ctx);
  } catch (error) {
    if (!(error instanceof Failure && error.retry === "dependency")) throw error;
    const { deps, run } = ctx;
    const awaited = (spec.include ?? []).map(({ repository: { name } }) => sourceTopic({ ...run.key, name }));
    await deps.subscriptions.subscribe([ownTopic(spec), ...awaited], run.fence, run.signal);
    return includedArtifacts(spec, ctx);
  }
}

function ownTopic({ url, ref }: GitRepositorySpec): Subscription {
  const topic = gitTopic(url);
  const follows = followedRefs(ref);
  return follows === undefined ? topic : { topic, follows };
}

/** Shows a changed include before the slow part begins, as Flux does. */
async function tellOfIncludes(included: readonly Included[], ctx: SourceContext): Promise<void> {
  const { includedArtifacts: before } = GitRepositoryStatus.parse(ctx.status());
  const now = included.map(({ artifact }) => artifact);
  if (!areAlike(before ?? [], now)) {
    const message = "included artifacts differ from last observed includes";
    ctx.setStatus(outdated(ctx.status(), message, ctx.now(), "IncludeChange"));
    await ctx.publish();
  }
  ctx.setStatus(removeConditions(ctx.status(), ["ArtifactOutdated"]));
}

/**
 * The refs that decide the revision; undefined for all of the repository. A commit alone is looked for wherever it may be: a push of any
 * ref may bring it.
 */
function followedRefs(ref: GitReference = {}): Follows | undefined {
  const { semver = "" } = ref;
  switch (countingField(ref)) {
    case "semver":
      return { kind: "range", semver, after: tagPrefix };
    case "commit":
      return (ref.branch ?? "") === "" ? undefined : { kind: "names", names: [...listedPrefixes(ref)] };
    case "branch":
    case "name":
    case "tag":
      return { kind: "names", names: [...listedPrefixes(ref)] };
  }
}

/** The event of a run that found nothing new. */
function unchanged(revision: string) {
  const message = `no changes since last reconciliation: observed revision '${revision}'`;
  return { reason: "GitOperationSucceeded", message } as const;
}

/** The settings and includes of an artifact. Empty fields are left out, as in Flux. */
function observedOf(spec: GitRepositorySpec, included: readonly Artifact[], ctx: SourceContext): object {
  const { ignore, include = [], recurseSubmodules = false, sparseCheckout = [] } = spec;
  const before = GitRepositoryStatus.parse(ctx.status());
  return {
    observedIgnore: ignore,
    observedRecurseSubmodules: recurseSubmodules ? true : undefined,
    observedInclude: include.length === 0 ? undefined : include,
    observedSparseCheckout: sparseCheckout.length === 0 ? undefined : sparseCheckout,
    // Only content counts, not when or where it was stored again.
    includedArtifacts:
      included.length === 0
        ? undefined
        : areAlike(before.includedArtifacts ?? [], included)
          ? before.includedArtifacts
          : included,
    sourceVerificationMode: expectedMode(spec.verify, before),
  };
}

function areAlike(some: readonly Artifact[], others: readonly Artifact[]): boolean {
  const content = (artifacts: readonly Artifact[]) =>
    JSON.stringify(artifacts.map(({ digest, revision }) => [digest, revision]));
  return content(some) === content(others);
}
