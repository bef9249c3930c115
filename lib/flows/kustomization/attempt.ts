import { z } from "zod";
import { findCondition, isTrue } from "../../api/condition.ts";
import { effectiveTimeoutMs } from "../../api/kustomization.ts";
import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { Artifact } from "../../api/source.ts";
import type { AppliedObject } from "../../apply/apply-object.ts";
import type { Pruned } from "../../apply/prune/pruned.ts";
import { formatDuration } from "../../core/duration.ts";
import { Failure } from "../../core/failure.ts";
import type { JsonObject } from "../../core/json.ts";
import { refOf } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import type { HealthRules } from "../../health/health-rules.ts";
import { tolerantCluster } from "../../manifests/tolerant-cluster.ts";
import type { BuiltManifests, KustomizationContext } from "./context.ts";
import { originRevisionKey, type ResolvedSource } from "./resolve-source.ts";
import { revisionAnnotations } from "./status.ts";

/** What a run passes on to the next one of the same object. It is only a hint: without it a wait starts again. */
const CarriedState = z.object({
  /** Failures in a row, for the back-off. */
  failures: z.number().int().min(0).default(0),
  /** The deletion has begun: the status's entries are in the inventory, and its inventory is no longer written. */
  isFinalizing: z.boolean().optional(),
  /** The revision and generation for which dependents were woken. If a run is killed before that, the next one does it. */
  announced: z.string().optional(),
  /** How many runs at the interval `status.history` does not count yet, see {@link isShownOfLate}. */
  unshown: z.number().int().min(0).exactOptional(),
  /** The Ready condition as it was when the deletion began: events about the end carry its reason, as in Flux. */
  ending: z.object({ reason: z.string(), isReady: z.boolean() }).exactOptional(),
  /** The wait that is under way. */
  wait: z
    .object({
      /** Another revision or generation begins a new wait. */
      revision: z.string(),
      generation: z.number(),
      /** What the run waits for: a stage of the apply, an object that is being deleted, or health. Each has a timeout of its own. */
      phase: z.enum(["apply", "deletion", "health"]),
      /** When the reconcile began, and when the wait did: wall time in milliseconds. */
      startedAt: z.number(),
      since: z.number(),
      looks: z.number().int(),
      /** Whether the apply before the wait changed anything. */
      changed: z.boolean(),
      /** The health before the wait, see {@link healthOf}: the wait itself reports that it is not known. */
      healthBefore: z.string().exactOptional(),
      /** The applied objects, if a newer revision does not end the wait. */
      artifact: Artifact.exactOptional(),
    })
    .optional(),
});
export type CarriedState = Readonly<z.infer<typeof CarriedState>>;
export type Wait = Readonly<NonNullable<CarriedState["wait"]>>;

/** Reads the carried state of a run. State of an older or newer release is ignored. */
export function readCarriedState(carried: JsonObject | undefined): CarriedState {
  const parsed = CarriedState.safeParse(carried ?? {});
  return parsed.success ? parsed.data : { failures: 0 };
}

/** The Ready condition before the deletion reported its wait. */
export function ending({ kustomization, run }: KustomizationContext): NonNullable<CarriedState["ending"]> {
  const { conditions = [] } = kustomization.status;
  const known = readCarriedState(run.carried).ending;
  return known ?? { reason: findCondition(conditions, "Ready")?.reason ?? "", isReady: isTrue(conditions, "Ready") };
}

/** How long after the n-th look the next wake-up comes: 1, 2, 3, 5, 5 … seconds. */
export function nextLookMs(looks: number): number {
  return [1_000, 2_000, 3_000][looks] ?? 5_000;
}

/** The same for a deletion, which a finalizer may block for long: 1, 2, 3, 5, 10, 20, 40, 60, 60 … seconds. */
export function nextDeletionLookMs(looks: number): number {
  return Math.min(nextLookMs(looks) * 2 ** Math.max(0, looks - 3), 60_000);
}

/** The fields that a run left out because the API server does not know them, by the subject of their object. */
type LeftOut = ReadonlyMap<string, ReadonlySet<string>>;

/** What a run needs before it can work on a revision. */
export interface Preconditions {
  readonly kind: "met";
  readonly source: ResolvedSource;
  /** The source has a newer revision already. */
  readonly isOlder?: boolean;
  readonly healthRules: HealthRules;
}

/** One attempt at one revision. It takes several runs if it has to wait. */
export interface Attempt {
  /** Its target leaves out fields that the API server does not know, see {@link tolerantCluster}. */
  readonly ctx: KustomizationContext;
  readonly leftOut: LeftOut;
  readonly source: ResolvedSource;
  readonly healthRules: HealthRules;
  /** When the first run of this attempt began, wall time in milliseconds. */
  readonly startedAt: number;
  /** What an earlier run of this attempt waits for. */
  readonly wait: Wait | undefined;
  /** No earlier run has reported that it attempts this revision under this generation. */
  readonly isNew: boolean;
  /** The event metadata of this revision. */
  readonly annotations: Readonly<Record<string, string>>;
}

export function beginAttempt(ctx: KustomizationContext, { source, healthRules }: Preconditions): Attempt {
  const leftOut = new Map<string, Set<string>>();
  const target = tolerantCluster(ctx.target, ctx.deps.log, (manifest, fields) => {
    const name = subject(refOf(manifest));
    leftOut.set(name, new Set([...(leftOut.get(name) ?? []), ...fields]));
  });
  const { wait } = readCarriedState(ctx.run.carried);
  const isSame = wait?.revision === source.revision && wait.generation === ctx.generation;
  const { lastAttemptedRevision, observedGeneration } = ctx.status();
  return {
    ctx: { ...ctx, target },
    leftOut,
    source,
    healthRules,
    isNew: lastAttemptedRevision !== source.revision || observedGeneration !== ctx.generation,
    startedAt: isSame ? wait.startedAt : ctx.deps.clock.now(),
    wait: isSame ? wait : undefined,
    annotations: revisionAnnotations(source.revision, source.originRevision),
  };
}

/** How far a run has come. Each step adds to it, and the report at the end goes by it. */
export interface Reached {
  readonly built: BuiltManifests;
  /** The status that the report changes: as the run found it, and after the apply with the new inventory. */
  readonly status: KustomizationStatus;
  readonly applied: readonly AppliedObject[];
  readonly pruned: readonly Pruned[];
}

/** A step of the run has failed. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
  readonly failure: Failure;
  readonly reached: Reached;
  /** The text of Healthy=False, if the health check failed. */
  readonly health: string | undefined;

  constructor(failure: Failure, reached: Reached, health?: string) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.reached = reached;
    this.health = health;
  }
}

/** A step that takes the result of the steps before it, and passes that on in a {@link StepFailed} if it fails. */
export function step<From extends Reached, To>(
  work: (reached: From, attempt: Attempt) => Promise<To>,
): (reached: From, attempt: Attempt) => Promise<To> {
  return async (reached, attempt) => {
    try {
      return await work(reached, attempt);
    } catch (error) {
      throw error instanceof Failure ? new StepFailed(error, reached) : error;
    }
  };
}

/** What Healthy says of objects that nothing reconciles, "True" if they are all healthy, and "" for everything else. */
export function healthOf({ conditions = [] }: Pick<KustomizationStatus, "conditions">): string {
  const { status, reason, message } = findCondition(conditions, "Healthy") ?? {};
  if (status === "True") return status;
  return reason === "NotReconciled" && message !== undefined ? message : "";
}

/** The wait of this phase: the present one, or a new one. */
export function waitFor(phase: Wait["phase"], changed: boolean, { ctx, source, startedAt, wait }: Attempt): Wait {
  if (wait?.phase === phase) return { ...wait, changed: wait.changed || changed };
  const isPinned = phase === "health" && !ctx.deps.gates.CancelHealthCheckOnNewRevision;
  const since = ctx.deps.clock.now();
  const hasChanged = changed || wait?.changed === true;
  return {
    phase,
    revision: source.revision,
    generation: ctx.generation,
    startedAt,
    since,
    looks: 0,
    changed: hasChanged,
    healthBefore: healthOf(ctx.kustomization.status),
    ...(isPinned ? { artifact: withoutMetadata(source.artifact) } : {}),
  };
}

/** As much of an artifact as a later run needs to go on with it. */
function withoutMetadata({ metadata, ...artifact }: Artifact): Artifact {
  const origin = metadata?.[originRevisionKey];
  return origin === undefined ? artifact : { ...artifact, metadata: { [originRevisionKey]: origin } };
}

const phases = {
  fetch: "Fetching manifests",
  build: "Building manifests",
  apply: "Detecting drift",
  health: "Running health checks",
} as const;

/** Flux's progress messages, which name the revision and how long it may take (reference 3.4). */
export function progressText(phase: keyof typeof phases, { ctx, source }: Attempt): string {
  const timeout = formatDuration(effectiveTimeoutMs(ctx.kustomization.spec));
  return `${phases[phase]} for revision ${source.revision} with a timeout of ${timeout}`;
}

/** How long the attempt has taken until now, as Go formats it. */
export function elapsedText({ ctx }: Attempt, since: number): string {
  return formatDuration(ctx.deps.clock.now() - since);
}

export function attempted(status: KustomizationStatus, { source }: Attempt): KustomizationStatus {
  return { ...status, lastAttemptedRevision: source.revision };
}
