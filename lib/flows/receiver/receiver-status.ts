import { findCondition } from "../../api/condition.ts";
import type { ReceiverStatus } from "../../api/receiver.ts";
import { someOf } from "../../core/cut-text.ts";
import type { Failure } from "../../core/failure.ts";
import { removeConditions, setConditions } from "../conditions.ts";

// The status of a Receiver at the end of a run, in Flux's words (reference notifications 3). Pure.

/** The generation of the object and the time, for each condition that is set. */
interface Now {
  readonly generation: number;
  /** Wall time, milliseconds since 1970. */
  readonly at: number;
}

/** Entries of `spec.resources` that the Ready condition names. */
const maxNamed = 10;

/** Which entries of `spec.resources` no delivery wakes, since Sluice does not reconcile their kinds. Pure. */
export function unreconciledText(entries: readonly string[]): string {
  return `Sluice does not reconcile ${someOf(entries, maxNamed)}, so deliveries do not wake ${entries.length === 1 ? "it" : "them"}`;
}

/** The webhook is served at this path. @param unreconciled entries that it can wake nothing of: named after Flux's text */
export function initialized(
  status: ReceiverStatus,
  { path, unreconciled }: { readonly path: string; readonly unreconciled: readonly string[] },
  now: Now,
): ReceiverStatus {
  const more = unreconciled.length === 0 ? "" : `. ${unreconciledText(unreconciled)}`;
  const message = `Receiver initialized for path: ${path}${more}`;
  const next = setConditions(
    removeConditions(status, ["Reconciling", "Stalled"]),
    [{ type: "Ready", status: "True", reason: "Succeeded", message }],
    now,
  );
  return { ...next, observedGeneration: now.generation, webhookPath: path };
}

const retrying = {
  type: "Reconciling",
  status: "True",
  reason: "ProgressingWithRetry",
  message: "Reconciliation in progress",
} as const;

/** The run failed and will be tried again. Without a token there is no path. */
export function failed(status: ReceiverStatus, { reason, message }: Failure, now: Now): ReceiverStatus {
  const next = setConditions(
    removeConditions(status, ["Stalled"]),
    [retrying, { type: "Ready", status: "False", reason, message }],
    now,
  );
  if (reason !== "TokenNotFound") return next;
  const { webhookPath: _path, ...rest } = next;
  return rest;
}

/** Only a change of the object helps. */
export function stalled(status: ReceiverStatus, { reason, message }: Failure, now: Now): ReceiverStatus {
  const next = setConditions(
    removeConditions(status, ["Reconciling"]),
    [
      { type: "Stalled", status: "True", reason, message },
      { type: "Ready", status: "False", reason, message },
    ],
    now,
  );
  return { ...next, observedGeneration: now.generation };
}

/**
 * Conditions keep their messages; a Receiver that was ready counts as observed (reference notifications 23), and if it is tried
 * again, Reconciling does so too.
 */
export function suspended(status: ReceiverStatus, now: Now): ReceiverStatus {
  if (isReady(status)) return { ...status, observedGeneration: now.generation };
  const isRetried = findCondition(status.conditions ?? [], retrying.type) !== undefined;
  return isRetried ? setConditions(status, [retrying], now) : status;
}

export function isReady({ conditions = [] }: ReceiverStatus): boolean {
  return findCondition(conditions, "Ready")?.status === "True";
}
