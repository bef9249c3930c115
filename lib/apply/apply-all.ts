import { mapLimit } from "../core/concurrency.ts";
import { Failure } from "../core/failure.ts";
import { subject } from "../core/object-ref.ts";
import { checkHealth, verdict } from "../health/check-health.ts";
import type { HealthRules } from "../health/health-rules.ts";
import {
  type AppliedObject,
  type ApplyDeps,
  ApplyError,
  applyObject,
  StillTerminating,
  StillUnserved,
} from "./apply-object.ts";
import type { PlannedObject } from "./plan.ts";
import { planDeferred, type StagePlanning } from "./plan-objects.ts";
import { lookAFewTimes } from "./poll.ts";
import { type Stage, stageOf, stages } from "./set/apply-order.ts";
import { cascadeScopeOf } from "./set/cascade-scope.ts";
import { terminatingText } from "./terminating.ts";

export type ApplyOutcome =
  | { readonly kind: "applied"; readonly applied: readonly AppliedObject[] }
  /** Something must become ready or go away before the rest can be applied: run again soon. `why` is for people. */
  | ({ readonly kind: "waiting"; readonly applied: readonly AppliedObject[] } & Pending)
  | { readonly kind: "failed"; readonly applied: readonly AppliedObject[]; readonly message: string };

/** What the apply waits for: a stage to be ready, or an object to be deleted. */
export interface Pending {
  readonly why: string;
  readonly on: "deletion" | "stage";
}

export interface ApplyAllDeps extends ApplyDeps {
  /** Whether objects may be recreated without saying so themselves. */
  readonly force: boolean;
  readonly concurrency: number;
  /** The health rules of the owner count for the waits between stages too. */
  readonly healthRules: HealthRules;
}

/**
 * Applies a plan stage by stage. Inside a stage kinds follow one another in order, objects of one kind go at the same time.
 * The first refusal stops everything behind it; what was done until then is in the outcome.
 */
export async function applyAll(
  planned: readonly PlannedObject[],
  deps: ApplyAllDeps,
  signal: AbortSignal,
): Promise<ApplyOutcome> {
  const applied: AppliedObject[] = [];
  for (const stage of stages) {
    const members = planned.filter(({ desired }) => stageOf(desired.ref, deps.rules) === stage);
    try {
      const judged = await planOnceServed(members, deps, signal);
      if (judged.kind === "unserved") return { kind: "waiting", applied, why: judged.message, on: "stage" };
      if (judged.kind === "refused") return { kind: "failed", applied, message: judged.message };
      await applyStage(judged.objects, applied, deps, signal);
    } catch (error) {
      if (error instanceof ApplyError) return { kind: "failed", applied, message: error.message };
      if (error instanceof StillTerminating) return { kind: "waiting", applied, why: error.message, on: "deletion" };
      if (error instanceof StillUnserved) return { kind: "waiting", applied, why: error.message, on: "stage" };
      throw error;
    }
    try {
      const pending = pendingDeletion(applied) ?? (await pendingOf(stage, applied, deps, signal));
      if (pending !== undefined) return { kind: "waiting", applied, ...pending };
    } catch (error) {
      if (error instanceof Failure) return { kind: "failed", applied, message: error.message };
      throw error;
    }
  }
  return { kind: "applied", applied };
}

/**
 * Plans the deferred objects of a stage. An API server establishes a definition before it serves the kind, and another one behind the same
 * address follows later still: the dry runs of the kinds that are missing are repeated within a second.
 */
async function planOnceServed(
  members: readonly PlannedObject[],
  deps: ApplyAllDeps,
  signal: AbortSignal,
): Promise<StagePlanning> {
  let last: StagePlanning = { kind: "planned", objects: members };
  const look = async () => {
    last = await planDeferred(last.kind === "unserved" ? last.objects : members, deps, signal);
    return last.kind === "unserved" ? undefined : last;
  };
  return (await lookAFewTimes(look, deps.clock, signal)) ?? last;
}

async function applyStage(
  members: readonly PlannedObject[],
  applied: AppliedObject[],
  deps: ApplyAllDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const sameKind of Map.groupBy(members, ({ desired: { ref } }) => `${ref.group}/${ref.kind}`).values()) {
    const done: AppliedObject[] = [];
    try {
      await mapLimit(
        sameKind,
        deps.concurrency,
        async ({ desired, change }, stop) => {
          if (change.kind === "deferred")
            throw new ApplyError(`${subject(desired.ref)} not found: its definition or namespace did not appear`);
          done.push(await applyObject(desired, change, deps, stop));
        },
        signal,
      );
    } finally {
      // In the order of the plan, not of completion: events and the inventory list them so.
      const order = new Map(sameKind.map(({ desired }, index) => [desired.id, index]));
      applied.push(...done.toSorted((a, b) => (order.get(a.desired.id) ?? 0) - (order.get(b.desired.id) ?? 0)));
    }
  }
}

/**
 * What is not ready yet in the definitions just written; undefined if the next stage can start. It does not wait for objects that were
 * unchanged or skipped: the cluster has had them since an earlier run.
 */
async function pendingOf(
  stage: Stage,
  applied: readonly AppliedObject[],
  { cluster, clock, healthRules, rules }: ApplyAllDeps,
  signal: AbortSignal,
): Promise<Pending | undefined> {
  if (stage === "custom" || stage === "rest") return undefined;
  const targets = applied
    .filter(
      ({ desired, change }) =>
        stageOf(desired.ref, rules) === stage && (change === "created" || change === "configured"),
    )
    .map(({ desired }) => ({ ref: desired.ref, mayVanish: false }));
  let last = "";
  const ready = await lookAFewTimes(
    async () => {
      const seen = verdict(await checkHealth(targets, { cluster, now: clock.now(), rules: healthRules }, signal));
      if (seen.kind === "healthy") return true;
      last = seen.message;
      return undefined;
    },
    clock,
    signal,
  );
  return ready === true ? undefined : { why: last, on: "stage" };
}

/** A namespace or definition that is being deleted takes along whatever is put into it: the rest waits until it is gone. */
function pendingDeletion(applied: readonly AppliedObject[]): Pending | undefined {
  const why = terminatingText(applied.filter(({ desired }) => cascadeScopeOf(desired.ref) !== undefined));
  return why === undefined ? undefined : { why, on: "deletion" };
}
