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
import type { Flow } from "../../core/run.ts";
import { gitTopic, sourceTopic } from "../../core/topics.ts";
import { defaultArchiveLimits } from "../../sources/archive/unpack.ts";
import { countingField, idleFields, listedPrefixes, tagPrefix } from "../../sources/git/choose-ref.ts";
import { removeConditions } from "../conditions.ts";
import type { EventToRecord } from "../record-event.ts";
import { outdated } from "../source/source-conditions.ts";
import type { SourceContext, SourceDeps } from "../source/source-context.ts";
import { sourceFlow } from "../source/source-flow.ts";
import type { SourceKind } from "../source/source-kind.ts";
import { conditionByReason } from "./condition-by-reason.ts";
import { findRevision } from "./find-revision.ts";
import { shownUrl } from "./git-failure.ts";
import { type Included, includedArtifacts } from "./includes.ts";
import type { OpenRepository } from "./open-repository.ts";
import { pullRevision } from "./pull-revision.ts";
import { expectedMode } from "./verification.ts";

/** What the reconcile of a GitRepository needs of the world. */
export interface GitRepositoryDeps extends SourceDeps {
  readonly openRepository: OpenRepository;
}

/** The reconcile of a GitRepository. */
export function gitRepositoryFlow(deps: GitRepositoryDeps): Flow {
  return sourceFlow(gitRepositorySource(deps), deps);
}

function gitRepositorySource({ limits, openRepository }: GitRepositoryDeps): SourceKind<GitRepositorySpec> {
  return {
    declared: declaredGitRepository,
    spec: GitRepositorySchema,
    status: GitRepositoryStatus,
    conditionByReason,
    check: (spec) => {
      if (!URL.canParse(spec.url)) {
        throw new Failure("URLInvalid", `failed to parse url '${shownUrl(spec.url)}': it has no valid host or port`);
      }
      const tooMuch = overGitRepositoryLimits(spec);
      if (tooMuch.length > 0) throw new Failure("InvalidSpec", `${tooMuch.join("; ")}: use fewer`);
      const fields = unsupportedGitRepositoryFields(spec);
      if (fields.length === 0) return;
      const message = `${fields.join(", ")} is not supported yet: remove it, or leave this GitRepository to Flux until it is`;
      throw new Failure("UnsupportedField", message);
    },
    topics: (spec) => [ownTopic(spec)],
    resolve: async (spec, ctx) => {
      const warning = idleFieldsWarning(spec, ctx);
      if (warning !== undefined) await ctx.record(warning);
      const included = await lookForIncludes(spec, ctx);
      await tellOfIncludes(included, ctx);
      await using opened = new AsyncDisposableStack();
      const remote = opened.use(await openRepository(spec.url, spec, ctx));
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
          event: (artifact) => `stored artifact for commit '${artifact.revision}'`,
          // As Flux, whose short cut is for these alone; ours is for all.
          ...(isListedFirst ? { unchanged: unchanged(revision) } : {}),
        },
        // Our own identity is for CodeCommit alone, whose events reach the functions.
        isAnnounced: spec.provider === "aws",
        pull: (announce) => pullRevision(chosen, spec, included, { ...pulling, announce }, ctx),
        close: () => stillOpen.disposeAsync(),
      };
    },
  };
}

/** The Warning event for fields of `spec.ref` that change nothing, once for each generation. */
function idleFieldsWarning({ ref = {} }: GitRepositorySpec, ctx: SourceContext): EventToRecord | undefined {
  const { generation } = ctx.now();
  const isTold = (ctx.before.conditions ?? []).some(({ observedGeneration }) => observedGeneration === generation);
  const idle = idleFields(ref);
  if (isTold || idle.length === 0) return undefined;
  const fields = idle.map((field) => `spec.ref.${field}`).join(" and ");
  const message = `${fields} ${idle.length === 1 ? "changes" : "change"} nothing beside spec.ref.${countingField(ref)}, which counts`;
  return { type: "Warning", reason: "AmbiguousReference", message, annotations: {} };
}

/**
 * The included artifacts. One that is not there yet announces itself, so that the wait for it ends at once; once all are there their
 * changes are left for the next run, as in Flux (reference 2.6).
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

/** Shows that an include has changed before what may take a while begins, as Flux does. */
async function tellOfIncludes(included: readonly Included[], ctx: SourceContext): Promise<void> {
  const { includedArtifacts: before } = GitRepositoryStatus.parse(ctx.status());
  const now = included.map(({ artifact }) => artifact);
  if (areAlike(before ?? [], now)) return;
  const message = "included artifacts differ from last observed includes";
  ctx.setStatus(outdated(ctx.status(), message, ctx.now(), "IncludeChange"));
  await ctx.publish();
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

/** The settings and includes of an artifact. What is empty is left out, as in Flux. */
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
