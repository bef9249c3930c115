import type { KindDeclaration } from "../../api/kinds/declaration.ts";
import type { Artifact, SourceStatus } from "../../api/source.ts";
import type { Digest } from "../../core/digest.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { Run } from "../../core/ports/run.ts";
import type { ArchiveLimits } from "../../sources/archive/unpack.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { type RunContext, runContext } from "../run-context.ts";
import { type ConditionByReason, withTimesOf } from "./source-conditions.ts";

/** The outside services of a source's flow, for every kind. */
export interface SourceDeps extends FlowDeps {
  /** The address under which `status.artifact.path` is served, or would be: consumers of ours go by the digest. */
  readonly artifactUrl: (path: string) => string;
  /** The limits for unpacking; `defaultArchiveLimits` if absent. */
  readonly limits?: ArchiveLimits;
}

/** The differences between the kinds of source in status and storage. */
export interface SourceTraits {
  /** The name of the kind, in lower case, is the first folder in the path of an artifact. */
  readonly declared: KindDeclaration;
  /** The file name at `status.url`, for example `latest.tar.gz`; a kind without it has no such field. */
  readonly latest?: string;
  /** The conditions of failures that only this kind has: any other sets `FetchFailed`, or one of our storage. */
  readonly conditionByReason?: ConditionByReason;
  /** What else this kind records with an artifact, for the present generation, and needs as long as the artifact is kept. */
  readonly recordedBeside?: (artifact: Artifact, generation: number) => readonly Digest[];
}

/** The source object of one run, and its status from the run. */
export interface SourceContext extends RunContext<SourceStatus, SourceDeps> {
  readonly traits: SourceTraits;
  /** Since when a change of the origin asks for another run of the object, monotonic time: since this run began, or has subscribed. */
  readonly since: number;
}

export function sourceContext(
  traits: SourceTraits,
  live: LiveObject,
  before: SourceStatus,
  run: Run,
  deps: SourceDeps,
): SourceContext {
  const since = deps.clock.monotonic();
  return { traits, since, ...runContext(traits.declared, live, before, run, deps, withTimesOf) };
}
