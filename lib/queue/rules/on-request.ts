import type { WorkItem } from "../../core/ports/work-items.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { wakeMs } from "../timing.ts";

export interface RequestDecision {
  /** What to write; undefined where a run that is yet to start covers the request. */
  readonly item: WorkItem | undefined;
  readonly send: boolean;
}

/**
 * Marks an object as requested. A request that no run has started on covers every later one, so a burst costs one write;
 * while a lease is held its holder sends the wake-up when it ends. Past `wakeUntil` it is sent again whatever was trusted.
 */
export function onRequest(item: WorkItem | undefined, key: WorkKey, now: number): RequestDecision {
  if (item === undefined) return { item: newWorkItem(key, now), send: true };
  const covered = item.requested > item.started;
  const underWay = item.wakeUntil !== undefined && now < item.wakeUntil;
  if (covered && underWay) return { item: undefined, send: false };
  const requested = covered ? item.requested : item.requested + 1;
  if (item.lease !== undefined && underWay) return { item: { ...item, requested }, send: false };
  return { item: { ...item, requested, wakeUntil: now + wakeMs }, send: true };
}

function newWorkItem(key: WorkKey, now: number): WorkItem {
  return {
    key,
    version: 0,
    requested: 1,
    started: 0,
    handled: 0,
    token: 0,
    lease: undefined,
    wakeUntil: now + wakeMs,
    dueAt: undefined,
    attempts: 0,
    died: false,
    phase: "Active",
    input: undefined,
    fault: undefined,
    memo: undefined,
    seen: undefined,
  };
}
