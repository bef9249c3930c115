import { effectiveTimeoutMs } from "../../api/kustomization.ts";
import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { formatDuration } from "../../core/duration.ts";
import { revisionAnnotations } from "./annotations.ts";
import { readMemo, type Wait } from "./memo.ts";
import type { ResolvedSource } from "./resolve-source.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** One attempt at one revision; it may take several runs where it has to wait. */
export interface Attempt {
  readonly of: SubjectOfRun;
  readonly source: ResolvedSource;
  /** When the first run of this attempt began, wall time in milliseconds. */
  readonly startedAt: number;
  /** What an earlier run of this attempt left to wait for. */
  readonly wait: Wait | undefined;
  /** No earlier run has told that it attempts this revision under this generation. */
  readonly isNew: boolean;
  /** The event metadata of this revision. */
  readonly annotations: Readonly<Record<string, string>>;
}

export function beginAttempt(of: SubjectOfRun, source: ResolvedSource): Attempt {
  const { wait } = readMemo(of.run.memo);
  const isSame = wait?.revision === source.revision && wait.generation === of.generation;
  const { lastAttemptedRevision, observedGeneration } = of.status();
  return {
    of,
    source,
    isNew: lastAttemptedRevision !== source.revision || observedGeneration !== of.generation,
    startedAt: isSame ? wait.startedAt : of.deps.clock.now(),
    wait: isSame ? wait : undefined,
    annotations: revisionAnnotations(source.revision, source.originRevision),
  };
}

/** The wait of this phase: the one that goes on, or a new one. */
export function waitFor(phase: Wait["phase"], changed: boolean, { of, source, startedAt, wait }: Attempt): Wait {
  if (wait?.phase === phase) return { ...wait, changed: wait.changed || changed };
  const since = of.deps.clock.now();
  const hasChanged = changed || wait?.changed === true;
  return {
    phase,
    revision: source.revision,
    generation: of.generation,
    startedAt,
    since,
    looks: 0,
    changed: hasChanged,
  };
}

const phases = {
  fetch: "Fetching manifests",
  build: "Building manifests",
  apply: "Detecting drift",
  health: "Running health checks",
} as const;

/** Flux's progress messages, which name the revision and how long it may take (reference 3.4). */
export function progressText(phase: keyof typeof phases, { of, source }: Attempt): string {
  const timeout = formatDuration(effectiveTimeoutMs(of.kustomization.spec));
  return `${phases[phase]} for revision ${source.revision} with a timeout of ${timeout}`;
}

/** How long the attempt has taken until now, in Go's words. */
export function elapsedText({ of }: Attempt, since: number): string {
  return formatDuration(of.deps.clock.now() - since);
}

export function attempted(status: KustomizationStatus, { source }: Attempt): KustomizationStatus {
  return { ...status, lastAttemptedRevision: source.revision };
}
