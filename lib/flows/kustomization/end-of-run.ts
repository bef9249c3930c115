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

/** What every run does at its end, whatever came of it: the handled request is copied (reference 3.1, step 11). */
export function handled(status: KustomizationStatus, { requestedAt }: SubjectOfRun): KustomizationStatus {
  return requestedAt === undefined ? status : { ...status, lastHandledReconcileAt: requestedAt };
}
