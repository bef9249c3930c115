import { maxDelayMs, type WakeUp } from "../../core/ports/wake-ups.ts";
import type { WorkItem } from "../../core/ports/work-items.ts";
import { wakeUpOf } from "./on-wake-up.ts";

export interface FollowUp {
  readonly wakeUp: WakeUp;
  readonly delayMs: number;
}

/**
 * The messages that an item without a lease needs to go on: one at once for a request that came during the run, one for
 * its `dueAt` where the queue can delay that long (the sweep sees to all others).
 */
export function followUps(item: WorkItem, now: number): readonly FollowUp[] {
  const { dueAt } = item;
  const dirty = item.requested > item.started;
  const messages: FollowUp[] = dirty ? [{ wakeUp: wakeUpOf(item), delayMs: 0 }] : [];
  // A waiting request runs at once and makes a new dueAt, but not during a back-off.
  if (dueAt === undefined || (dirty && item.attempts === 0)) return messages;
  const delayMs = Math.max(0, dueAt - now);
  return delayMs > maxDelayMs ? messages : [...messages, { wakeUp: { ...wakeUpOf(item), dueAt }, delayMs }];
}
