import type { WakeUp } from "../../core/ports/wake-ups.ts";
import type { Lease, WorkItem } from "../../core/ports/work-items.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { backoffMs, leaseMs, maxAnnouncements, maxAttempts, recheckMs } from "../timing.ts";

export type WakeUpDecision =
  /** Nothing to do. */
  | { readonly kind: "drop" }
  /** Somebody else holds the lease: come back when it has ended or is dead. */
  | { readonly kind: "forward"; readonly wakeUp: WakeUp; readonly delayMs: number }
  /** Earlier runs did not end: what the object's run depends on has to be known first. */
  | { readonly kind: "look" }
  /** Write this and start nothing; `wait`: send the message that the wait for its `dueAt` needs. */
  | { readonly kind: "settle"; readonly item: WorkItem; readonly wait: boolean }
  /** Write this, which takes the lease, and run the flow: alone in its process where the item `died`. */
  | { readonly kind: "run"; readonly item: WorkItem }
  /** Write this, which takes the lease, and park the object; `announce`: tell its user. */
  | { readonly kind: "park"; readonly item: WorkItem; readonly announce: boolean };

/** What a reader of a wake-up knows besides the item. */
export interface Waking {
  readonly wakeUp: WakeUp;
  /** The name that the lease gets if this reader takes it: random, since a message that names it takes the lease over. */
  readonly holder: string;
  /** The present input of the object's run; undefined while nobody has looked, null where looking failed. */
  readonly input: string | null | undefined;
  readonly now: number;
}

/** What to do about a wake-up, given the item as it is in the store. */
export function onWakeUp(item: WorkItem | undefined, waking: Waking): WakeUpDecision {
  if (item === undefined) return { kind: "drop" };
  if (item.lease !== undefined) return onHeldLease(item, item.lease, waking);
  const dirty = item.requested > item.started;
  const due = isDue(item, waking);
  if (!dirty && !due) return { kind: "drop" };
  if (item.attempts === 0) return take(item, waking);
  if (waking.input === undefined) return { kind: "look" };
  if (inputChanged(item, waking.input)) return take({ ...item, attempts: 0 }, waking);
  if (item.phase === "Active" && due) return take(item, waking);
  // Nobody knows: the sweep asks again.
  if (waking.input === null) return { kind: "drop" };
  return item.phase === "Active" ? putOff(item, waking.input) : stayParked(item, waking.now);
}

/** The same (holder, renewals) twice, a lease's length apart by the queue's own delay: its holder is dead. */
function onHeldLease(item: WorkItem, { holder, renewals }: Lease, waking: Waking): WakeUpDecision {
  const { held, key } = waking.wakeUp;
  if (held?.holder !== holder || held.renewals !== renewals) {
    return { kind: "forward", wakeUp: { key, held: { holder, renewals } }, delayMs: leaseMs };
  }
  if (waking.input === undefined) return { kind: "look" };
  const attempts = inputChanged(item, waking.input) ? 0 : item.attempts;
  // Finding it dead took a lease's length: only a longer back-off has to be waited for.
  if (backoffMs(attempts) <= leaseMs) return take({ ...item, attempts, died: true }, waking);
  const dueAt = waking.now + backoffMs(attempts);
  const input = waking.input ?? item.input;
  const freed = { ...item, lease: undefined, wakeUntil: undefined, dueAt, attempts, died: true, input };
  return { kind: "settle", item: freed, wait: true };
}

/** Only the queue's delay and the sweep say so: this reader's clock may be minutes off the one that `dueAt` was read from. */
function isDue({ dueAt }: WorkItem, { wakeUp }: Waking): boolean {
  return dueAt !== undefined && dueAt === wakeUp.dueAt;
}

function inputChanged({ input, phase }: WorkItem, present: string | null): boolean {
  if (present === null) return false;
  return input === undefined ? phase === "Poisoned" : input !== present;
}

/** The same input would meet the same end: its requests count as handled. */
function stayParked(item: WorkItem, now: number): WakeUpDecision {
  const { requested } = item;
  const dueAt = now + recheckMs;
  const parked = { ...item, started: requested, handled: requested, wakeUntil: undefined, dueAt };
  return { kind: "settle", item: parked, wait: false };
}

/** Further hints do not shorten a back-off, only a changed input does: the run at `dueAt` serves them. */
function putOff(item: WorkItem, input: string): WakeUpDecision {
  const later = { ...item, started: item.requested, wakeUntil: undefined, input };
  return { kind: "settle", item: later, wait: false };
}

function take(item: WorkItem, { holder, input, now }: Waking): WakeUpDecision {
  const attempts = item.attempts + 1;
  const taken: WorkItem = {
    ...item,
    started: item.requested,
    token: item.token + 1,
    lease: { holder, renewals: 0 },
    wakeUntil: now + leaseMs,
    dueAt: undefined,
    attempts,
    phase: "Active",
    input: input ?? item.input,
  };
  if (attempts <= maxAttempts) return { kind: "run", item: taken };
  return { kind: "park", item: taken, announce: attempts <= maxAttempts + maxAnnouncements };
}

/** The wake-up of an item, without anything seen. */
export function wakeUpOf({ key }: Pick<WorkItem, "key">): WakeUp {
  return { key: formatWorkKey(key) };
}
