import type { WorkItem } from "../../core/ports/work-items.ts";
import type { FlowResult } from "../../core/run.ts";
import { backoffMs, minDueMs, recheckMs, wakeMs } from "../timing.ts";

/** How a holder lets go of its lease. */
export type End =
  | { readonly kind: "finished"; readonly result: FlowResult }
  /** The flow threw. */
  | { readonly kind: "failed"; readonly fault: string }
  /** The process ends, or may not write to the cluster any more, through no fault of the object: another goes on at once. */
  | { readonly kind: "handedBack" }
  /** The table did not take the lease's renewals, through no fault of the object either. */
  | { readonly kind: "cutOff" }
  | { readonly kind: "parked" };

/** The item with the lease dropped, or undefined where this token's lease is no longer the one that is held. */
export function onEnd(item: WorkItem | undefined, token: number, end: End, now: number): WorkItem | undefined {
  if (item?.lease === undefined || item.token !== token) return undefined;
  const dropped = dropLease(item, now);
  switch (end.kind) {
    case "finished": {
      const { dueInMs, memo, seen } = end.result;
      return {
        ...dropped,
        handled: item.started,
        dueAt: dueInMs === undefined ? undefined : Math.ceil(now + Math.max(minDueMs, dueInMs)),
        attempts: 0,
        died: false,
        input: undefined,
        fault: undefined,
        memo,
        seen: seen ?? item.seen,
      };
    }
    case "failed":
      return { ...dropped, dueAt: now + backoffMs(item.attempts), died: false, fault: end.fault };
    case "handedBack":
    case "cutOff":
      return givenBack(item, now);
    case "parked":
      return { ...dropped, handled: item.started, dueAt: now + recheckMs, died: false, phase: "Poisoned" };
  }
}

/** The item free to be taken at once, and the attempt not counted: for a holder that was stopped from outside. */
function givenBack(item: WorkItem, now: number): WorkItem {
  return { ...item, lease: undefined, attempts: Math.max(0, item.attempts - 1), dueAt: now, wakeUntil: now + wakeMs };
}

/**
 * The item of a holder whose process is known to be dead, free to be taken at once: the process counts as the death of what
 * ran alone in it, and of nothing where several ran.
 */
export function leftBehind(item: WorkItem, now: number): WorkItem {
  const { attempts, died } = item;
  return { ...givenBack(item, now), attempts: died ? attempts : Math.max(0, attempts - 1), died: true };
}

function dropLease(item: WorkItem, now: number): WorkItem {
  return { ...item, lease: undefined, wakeUntil: item.requested > item.started ? now + wakeMs : undefined };
}
