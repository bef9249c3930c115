import type { Condition } from "../../api/condition.ts";
import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { removeCondition, setCondition } from "../conditions.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** The conditions of a Kustomization in Flux's words. Each function answers the next status and writes nothing. */

type Said = Pick<Condition, "type" | "status" | "reason" | "message">;

/** The status with these conditions set, for the present generation. */
export function withConditions(
  status: KustomizationStatus,
  of: SubjectOfRun,
  ...said: readonly Said[]
): KustomizationStatus {
  const now = of.deps.clock.now();
  const conditions = said.reduce<readonly Condition[]>(
    (before, condition) => setCondition(before, { ...condition, observedGeneration: of.generation }, now),
    status.conditions ?? [],
  );
  return { ...status, conditions: [...conditions] };
}

export function withoutConditions(status: KustomizationStatus, ...types: readonly string[]): KustomizationStatus {
  const conditions = types.reduce<readonly Condition[]>(removeCondition, status.conditions ?? []);
  return { ...status, conditions: [...conditions] };
}

/** A run that is under way and changes something: Ready is Unknown, Reconciling tells the phase. */
export function inProgress(status: KustomizationStatus, phase: string, of: SubjectOfRun): KustomizationStatus {
  return withConditions(
    withoutConditions(status, "Stalled"),
    of,
    { type: "Reconciling", status: "True", reason: "Progressing", message: phase },
    { type: "Ready", status: "Unknown", reason: "Progressing", message: "Reconciliation in progress" },
  );
}

/** What every run does at its end, whatever came of it: the handled request is copied (reference 3.1, step 11). */
export function handled(status: KustomizationStatus, { requestedAt }: SubjectOfRun): KustomizationStatus {
  return requestedAt === undefined ? status : { ...status, lastHandledReconcileAt: requestedAt };
}
