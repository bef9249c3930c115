import { findCondition } from "../../api/condition.ts";
import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { removeConditions, type Said, setConditions } from "../conditions.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** The conditions of a Kustomization in Flux's words. Each function answers the next status and writes nothing. */

/** The status with these conditions set, for the present generation. */
export function withConditions(
  status: KustomizationStatus,
  of: SubjectOfRun,
  ...said: readonly Said[]
): KustomizationStatus {
  return setConditions(status, said, { generation: of.generation, at: of.deps.clock.now() });
}

export function withoutConditions(status: KustomizationStatus, ...types: readonly string[]): KustomizationStatus {
  return removeConditions(status, types);
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

/**
 * What every run does at its end, whatever came of it (reference 3.1, step 11): the handled request is copied, and what was
 * being done is over where Ready is True, or will be tried again where it is False.
 */
export function handled(status: KustomizationStatus, of: SubjectOfRun): KustomizationStatus {
  const { requestedAt } = of;
  const next = withReconcilingEnded(status, of);
  return requestedAt === undefined ? next : { ...next, lastHandledReconcileAt: requestedAt };
}

function withReconcilingEnded(status: KustomizationStatus, of: SubjectOfRun): KustomizationStatus {
  const { conditions = [] } = status;
  const ready = findCondition(conditions, "Ready")?.status;
  const doing = findCondition(conditions, "Reconciling");
  if (doing === undefined || ready === undefined || ready === "Unknown") return status;
  if (ready === "True") return withoutConditions(status, "Reconciling");
  return withConditions(status, of, { ...doing, type: "Reconciling", reason: "ProgressingWithRetry" });
}
