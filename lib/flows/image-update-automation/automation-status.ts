import { findCondition } from "../../api/condition.ts";
import type { ImageUpdateAutomationStatus } from "../../api/image-update-automation.ts";
import type { Failure } from "../../core/failure.ts";
import { kubernetesTime } from "../../core/kubernetes-time.ts";
import { failing, removeConditions, setConditions } from "../conditions.ts";
import type { Step } from "./automation-context.ts";

// The status of an ImageUpdateAutomation, in Flux's words (reference image-automation 4.2, 8). Pure: nothing is written here.

/** The generation of the object and the time, for each condition that is set. */
interface Now {
  readonly generation: number;
  /** Wall time, milliseconds since 1970. */
  readonly at: number;
}

export const readyMessage = "repository up-to-date";

/** The step that fails with these reasons. A run that has passed the step knows that such a failure is over. */
const stepByReason: Readonly<Record<string, readonly Step[]>> = {
  InvalidPolicySelector: ["policies"],
  AccessDenied: ["source"],
  FeatureGateDisabled: ["source"],
  InvalidSourceConfiguration: ["source"],
  SourceManagerFailed: ["source"],
  GitOperationFailed: ["checkout", "push"],
  InvalidUpdateStrategy: ["update"],
  UpdateFailed: ["update"],
};

/** The run has begun. Ready changes only if nothing was known before, so an object that is ready stays so. */
export function begun(status: ImageUpdateAutomationStatus, now: Now): ImageUpdateAutomationStatus {
  const { observedGeneration = -1 } = status;
  const said = {
    reason: "Progressing",
    message:
      observedGeneration === now.generation
        ? "reconciliation in progress"
        : `processing object: new generation ${observedGeneration} -> ${now.generation}`,
  } as const;
  const ready = findCondition(status.conditions ?? [], "Ready");
  const isUnknown = ready === undefined || ready.status === "Unknown";
  const next = setConditions(
    removeConditions({ ...status, observedGeneration, lastAutomationRunTime: kubernetesTime(now.at) }, ["Stalled"]),
    [
      { ...said, type: "Reconciling", status: "True" },
      ...(isUnknown ? [{ ...said, type: "Ready", status: "Unknown" } as const] : []),
    ],
    now,
  );
  const pending = pendingPush(status);
  return pending === undefined ? next : pushing(next, pending, now);
}

/** Whether the status already says that a run works on this generation. */
export function isBegun({ conditions = [] }: ImageUpdateAutomationStatus, { generation }: Now): boolean {
  const reconciling = findCondition(conditions, "Reconciling");
  return reconciling?.status === "True" && reconciling.observedGeneration === generation;
}

/** A push whose end no run has seen. */
export interface PendingPush {
  readonly commit: string;
  readonly branch: string;
}

const pendingPattern = /^pushing commit '([0-9a-f]{40})' to branch '(.+)'$/su;

/** A commit is about to be pushed: written before the push, so that a killed run leaves a record of it. */
export function pushing(
  status: ImageUpdateAutomationStatus,
  { commit, branch }: PendingPush,
  now: Now,
): ImageUpdateAutomationStatus {
  const message = `pushing commit '${commit}' to branch '${branch}'`;
  return setConditions(status, [{ type: "Reconciling", status: "True", reason: "Progressing", message }], now);
}

/** The record of {@link pushing}. */
export function pendingPush({ conditions = [] }: ImageUpdateAutomationStatus): PendingPush | undefined {
  const message = findCondition(conditions, "Reconciling")?.message ?? "";
  const [, commit, branch] = pendingPattern.exec(message) ?? [];
  return commit === undefined || branch === undefined ? undefined : { commit, branch };
}

/** The status of a run that has seen the end of its push. */
export function withoutPending(status: ImageUpdateAutomationStatus, now: Now): ImageUpdateAutomationStatus {
  if (pendingPush(status) === undefined) return status;
  const { conditions = [], ...rest } = status;
  return begun({ ...rest, conditions: conditions.filter(({ type }) => type !== "Reconciling") }, now);
}

/** What a run has read of policies and repository, and perhaps pushed. */
export type Observed = Required<Pick<ImageUpdateAutomationStatus, "observedPolicies" | "observedSourceRevision">> &
  Pick<ImageUpdateAutomationStatus, "lastPushCommit" | "lastPushTime">;

/** The repository is as the policies want it. `observed`: absent if the run had nothing to read. */
export function succeeded(
  status: ImageUpdateAutomationStatus,
  observed: Observed | undefined,
  now: Now,
): ImageUpdateAutomationStatus {
  const next = setConditions(
    removeConditions(status, ["Reconciling", "Stalled"]),
    [{ type: "Ready", status: "True", reason: "Succeeded", message: readyMessage }],
    now,
  );
  return { ...next, ...observed, observedGeneration: now.generation };
}

/** The run failed and will be tried again. */
export function failed(status: ImageUpdateAutomationStatus, failure: Failure, now: Now): ImageUpdateAutomationStatus {
  return failing(status, failure, now);
}

/** Only a change of the object helps. A Ready condition that is False stays, as in Flux, unless the run has passed the step that failed. */
export function stalled(
  status: ImageUpdateAutomationStatus,
  { reason, message }: Failure,
  passed: ReadonlySet<Step>,
  now: Now,
): ImageUpdateAutomationStatus {
  const ready = findCondition(status.conditions ?? [], "Ready");
  const isOver = (stepByReason[ready?.reason ?? ""] ?? []).some((step) => passed.has(step));
  const isKept = ready?.status === "False" && !isOver;
  const next = setConditions(
    removeConditions(status, ["Reconciling"]),
    [
      { type: "Stalled", status: "True", reason, message },
      ...(isKept ? [] : [{ type: "Ready", status: "False", reason, message } as const]),
    ],
    now,
  );
  return { ...next, observedGeneration: now.generation };
}

/** Conditions keep their messages; an object that was ready counts as observed. The request is not handled. */
export function suspended(status: ImageUpdateAutomationStatus, now: Now): ImageUpdateAutomationStatus {
  const isReady = findCondition(status.conditions ?? [], "Ready")?.status === "True";
  return isReady ? { ...status, observedGeneration: now.generation } : status;
}
