import type { WorkItem } from "../../core/ports/work-items.ts";
import { leaseMs } from "../timing.ts";

/** The item with its lease renewed, or undefined where this token's lease is no longer the one that is held. */
export function onRenew(item: WorkItem | undefined, token: number, now: number): WorkItem | undefined {
  if (item?.lease === undefined || item.token !== token) return undefined;
  const lease = { ...item.lease, renewals: item.lease.renewals + 1 };
  return { ...item, lease, wakeUntil: now + leaseMs };
}
