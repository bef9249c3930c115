import { findCondition } from "../../api/condition.ts";
import type { ImageRepositoryStatus } from "../../api/image-repository.ts";
import { failing, removeConditions, setConditions } from "../conditions.ts";

// The status of an object of image automation in each phase of a run, in Flux's words (reference image-automation 1). Pure: nothing is
// written here.

/** The common parts of these kinds' statuses. */
type Status = Pick<ImageRepositoryStatus, "conditions" | "lastHandledReconcileAt" | "observedGeneration">;

/** The generation of the object and the time, for each condition that is set. */
export interface Now {
  readonly generation: number;
  /** Wall time, milliseconds since 1970. */
  readonly at: number;
}

interface Why {
  readonly reason: string;
  readonly message: string;
}

/** The run has begun. Ready changes only where nothing was known before. */
export function begun<Each extends Status>(status: Each, now: Now): Each {
  const { observedGeneration = -1 } = status;
  const isNew = observedGeneration !== now.generation;
  const message = isNew
    ? `processing object: new generation ${observedGeneration} -> ${now.generation}`
    : "reconciliation in progress";
  return progressing({ ...status, observedGeneration }, message, now);
}

/** The run does this now. @param isDrift whether Ready is unknown until it is done */
export function progressing<Each extends Status>(status: Each, message: string, now: Now, isDrift = false): Each {
  const said = { reason: "Progressing", message } as const;
  const ready = findCondition(status.conditions ?? [], "Ready");
  const isUnknown = isDrift || ready === undefined || ready.status === "Unknown";
  return setConditions(
    removeConditions(status, ["Stalled"]),
    [
      { ...said, type: "Reconciling", status: "True" },
      ...(isUnknown ? [{ ...said, type: "Ready", status: "Unknown" } as const] : []),
    ],
    now,
  );
}

/** The run has done its work. */
export function succeeded<Each extends Status>(status: Each, message: string, now: Now): Each {
  const next = setConditions(
    removeConditions(status, ["Reconciling", "Stalled"]),
    [{ type: "Ready", status: "True", reason: "Succeeded", message }],
    now,
  );
  return { ...next, observedGeneration: now.generation };
}

/** The run failed and will be tried again: the generation that was observed stays. */
export function failed<Each extends Status>(status: Each, { reason, message }: Why, now: Now): Each {
  return failing(status, { reason, message }, now);
}

/** Only a change of the object helps. As in Flux, Ready keeps the words of an earlier failure. */
export function stalled<Each extends Status>(status: Each, { reason, message }: Why, now: Now): Each {
  const isFailed = findCondition(status.conditions ?? [], "Ready")?.status === "False";
  const next = setConditions(
    removeConditions(status, ["Reconciling"]),
    [
      { type: "Stalled", status: "True", reason, message },
      ...(isFailed ? [] : [{ type: "Ready", status: "False", reason, message } as const]),
    ],
    now,
  );
  return { ...next, observedGeneration: now.generation };
}

/** The object is suspended: as in Flux, its generation counts as observed where nothing is left to do or to be tried again. */
export function suspended<Each extends Status>(status: Each, { generation }: Now): Each {
  const isStalled = findCondition(status.conditions ?? [], "Stalled")?.status === "True";
  return isStalled || isReady(status) ? { ...status, observedGeneration: generation } : status;
}

/** Whether Ready is True, and no run was cut off since. */
export function isReady({ conditions = [] }: Status): boolean {
  return (
    findCondition(conditions, "Ready")?.status === "True" && findCondition(conditions, "Reconciling") === undefined
  );
}
