import type { WakeUp } from "../../core/ports/wake-ups.ts";
import { overdueAt, type WorkItem } from "../../core/ports/work-items.ts";
import { wakeMs } from "../timing.ts";
import { wakeUpOf } from "./on-wake-up.ts";

export interface SweepDecision {
  readonly item: WorkItem;
  readonly wakeUp: WakeUp;
}

/** Wakes an overdue item again, and moves it out of the index for as long as that wake-up may take. */
export function onSweep(item: WorkItem, now: number): SweepDecision | undefined {
  const at = overdueAt(item);
  if (at === undefined || at > now) return undefined;
  const { dueAt } = item;
  const due = dueAt !== undefined && dueAt <= now;
  return {
    item: { ...item, wakeUntil: now + wakeMs },
    wakeUp: due ? { ...wakeUpOf(item), dueAt } : wakeUpOf(item),
  };
}
