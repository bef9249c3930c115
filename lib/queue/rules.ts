import type { FlowResult } from "../core/ports/run.ts";
import { maxDelayMs, type WakeUp } from "../core/ports/wake-ups.ts";
import { type Lease, overdueAt, type WorkItem } from "../core/ports/work-items.ts";
import { formatWorkKey, type WorkKey } from "../core/work-key.ts";
import { followUpWaitMs, hintedIf, hintsTaken, idleHintWaitMs, type RequestKind } from "./hint-rules.ts";
import { newWorkItem } from "./stored-work-item.ts";
import {
  attemptBackOffMs,
  leaseMs,
  marginMs,
  maxAnnouncements,
  maxAttempts,
  minDueMs,
  recheckMs,
  untoldRetryMaxMs,
  untoldRetryMs,
  wakeMs,
} from "./timing.ts";

/**
 * The protocol: every decision of the work queue, as pure functions of a work item and of what was received. The driver carries
 * them out. See docs/maintainers/work-queue.md for the picture and docs/maintainers/adr/0002-work-queue.md for the reasons.
 */
export const rules = { followUps, mayWrite, onEnd, onRenew, onRequest, onSweep, onWakeUp, tryAgain } as const;
export type Rules = typeof rules;

export interface RequestDecision {
  /** What to write; undefined if a run that has yet to start covers the request. */
  readonly item: WorkItem | undefined;
  readonly send: boolean;
  /** The delay of the wake-up. */
  readonly delayMs: number;
}

/**
 * Marks an object as requested. A request that no run has started on covers every later one, so a burst costs one write.
 * While a lease is held, its holder sends the wake-up when it ends. After `wakeUntil` the wake-up is sent again in any case.
 * A hint may wait for others like it (`hint-rules.ts`), a request that is none takes a waiting hint along at once.
 */
function onRequest(
  item: WorkItem | undefined,
  key: WorkKey,
  now: number,
  kind: RequestKind = "request",
): RequestDecision {
  if (item === undefined) {
    return { item: { ...newWorkItem(key, now), ...hintedIf(kind === "hint") }, send: true, delayMs: 0 };
  }
  const covered = item.requested > item.started;
  const underWay = item.wakeUntil !== undefined && now < item.wakeUntil;
  const delayMs = kind === "hint" ? idleHintWaitMs(item, now) : 0;
  if (covered && underWay && (kind === "hint" || item.hinted !== true))
    return { item: undefined, send: false, delayMs };
  const hinted = kind === "hint" && (!covered || item.hinted === true);
  const next = { ...item, requested: covered ? item.requested : item.requested + 1, ...hintedIf(hinted) };
  if (item.lease !== undefined && underWay) return { item: next, send: false, delayMs: 0 };
  return { item: { ...next, wakeUntil: now + delayMs + wakeMs }, send: true, delayMs };
}

export type WakeUpDecision =
  /** Nothing to do. */
  | { readonly kind: "drop" }
  /** Another handler holds the lease: come back when it has ended or is dead. */
  | { readonly kind: "forward"; readonly wakeUp: WakeUp; readonly delayMs: number }
  /** Earlier runs did not end: read the input of the object's run, then decide again. */
  | { readonly kind: "readInput" }
  /** Write this and start nothing; `wait`: send the message for its `dueAt`. */
  | { readonly kind: "writeOnly"; readonly item: WorkItem; readonly wait: boolean }
  /** Write this, which takes the lease, and run the flow; alone in its process if the item `died`. */
  | { readonly kind: "run"; readonly item: WorkItem }
  /** Write this, which takes the lease, and park the object; `announce`: tell its user. */
  | { readonly kind: "park"; readonly item: WorkItem; readonly announce: boolean };

/** What the rules need to know about a wake-up, apart from the item. */
export interface Waking {
  readonly wakeUp: WakeUp;
  /** The name that the lease gets if this reader takes it: random, since a message that names it takes the lease over. */
  readonly holder: string;
  /** The present input of the object's run; undefined while it has not been read, null if it could not be read. */
  readonly input: string | null | undefined;
  readonly now: number;
}

/** What to do about a wake-up, given the item as it is in the store. */
function onWakeUp(item: WorkItem | undefined, waking: Waking): WakeUpDecision {
  if (item === undefined) return { kind: "drop" };
  if (item.lease !== undefined) return onHeldLease(item, item.lease, waking);
  const dirty = item.requested > item.started;
  const due = isDue(item, waking);
  if (!dirty && !due) return { kind: "drop" };
  if (item.attempts === 0) return takeLease(item, waking);
  if (waking.input === undefined) return { kind: "readInput" };
  if (inputChanged(item, waking.input)) return takeLease({ ...item, attempts: 0 }, waking);
  if (item.phase === "Active" && due) return takeLease(item, waking);
  // The input is unknown: the sweep asks again.
  if (waking.input === null) return { kind: "drop" };
  return item.phase === "Active" ? waitForDueAt(item, waking.input) : stayParked(item, waking.now);
}

/** A holder is dead if (holder, renewals) are the same twice, a lease's length apart as the queue's own delay measures it. */
function onHeldLease(item: WorkItem, { holder, renewals }: Lease, waking: Waking): WakeUpDecision {
  const { held, key } = waking.wakeUp;
  if (held?.holder !== holder || held.renewals !== renewals) {
    return { kind: "forward", wakeUp: { key, held: { holder, renewals } }, delayMs: leaseMs };
  }
  if (waking.input === undefined) return { kind: "readInput" };
  const attempts = inputChanged(item, waking.input) ? 0 : item.attempts;
  // Finding it dead took a lease's length: only a longer back-off has to be waited for.
  if (attemptBackOffMs(attempts) <= leaseMs) return takeLease({ ...item, attempts, died: true }, waking);
  const dueAt = waking.now + attemptBackOffMs(attempts);
  const input = waking.input ?? item.input;
  const freed = {
    ...item,
    lease: undefined,
    wakeUntil: undefined,
    dueAt,
    woken: undefined,
    attempts,
    died: true,
    input,
  };
  return { kind: "writeOnly", item: freed, wait: true };
}

/** Only the queue's delay and the sweep decide this: this reader's clock may be minutes off the one that set `dueAt`. */
function isDue({ dueAt }: WorkItem, { wakeUp }: Waking): boolean {
  return dueAt !== undefined && dueAt === wakeUp.dueAt;
}

function inputChanged({ input, phase }: WorkItem, present: string | null): boolean {
  if (present === null) return false;
  return input === undefined ? phase === "Poisoned" : input !== present;
}

/** The same input would end the same way: its requests count as handled. */
function stayParked(item: WorkItem, now: number): WakeUpDecision {
  const { requested } = item;
  const dueAt = now + recheckMs;
  const handled = { started: requested, handled: requested, woken: undefined, wakeUntil: undefined, dueAt };
  const parked = { ...item, ...handled, ...hintedIf(false) };
  return { kind: "writeOnly", item: parked, wait: false };
}

/** The run at `dueAt` serves the request: hints do not shorten a back-off, only a changed input does. */
function waitForDueAt(item: WorkItem, input: string): WakeUpDecision {
  const asked = { started: item.requested, woken: undefined, wakeUntil: undefined, input };
  const later = { ...item, ...asked, ...hintedIf(false) };
  return { kind: "writeOnly", item: later, wait: false };
}

function takeLease(item: WorkItem, { holder, input, now }: Waking): WakeUpDecision {
  const attempts = item.attempts + 1;
  const taken: WorkItem = {
    ...item,
    started: item.requested,
    ...hintsTaken(item, now),
    token: item.token + 1,
    lease: { holder, renewals: 0 },
    wakeUntil: now + leaseMs,
    dueAt: undefined,
    woken: undefined,
    attempts,
    phase: "Active",
    input: input ?? item.input,
  };
  if (attempts <= maxAttempts) return { kind: "run", item: taken };
  return { kind: "park", item: taken, announce: attempts <= maxAttempts + maxAnnouncements };
}

/** The item with its lease renewed, or undefined if the lease with this token is no longer held. */
function onRenew(item: WorkItem | undefined, token: number, now: number): WorkItem | undefined {
  if (item?.lease === undefined || item.token !== token) return undefined;
  const lease = { ...item.lease, renewals: item.lease.renewals + 1 };
  return { ...item, lease, wakeUntil: now + leaseMs };
}

/** One moment by both clocks of a machine, in milliseconds. */
export interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * Whether a holder may still write to the cluster. `renewed` is the moment before its last successful renewal was sent.
 * The clock that shows more time counts: the wall clock may have been set back, and the monotonic one may have stood still
 * while the machine was frozen.
 */
function mayWrite(renewed: Instant, now: Instant): boolean {
  const elapsedMs = Math.max(now.wall - renewed.wall, now.monotonic - renewed.monotonic);
  return elapsedMs < leaseMs - marginMs;
}

/** How a holder gives up its lease. */
export type End =
  | { readonly kind: "finished"; readonly result: FlowResult }
  /** The flow threw. */
  | { readonly kind: "failed"; readonly fault: string }
  /** The process ends or may no longer write to the cluster, not because of the object: another process goes on at once. */
  | { readonly kind: "handedBack" }
  /** The table did not take the lease's renewals, again not because of the object. */
  | { readonly kind: "cutOff" }
  | { readonly kind: "parked" };

/** The item without its lease, or undefined if the lease with this token is no longer held. */
function onEnd(item: WorkItem | undefined, token: number, end: End, now: number): WorkItem | undefined {
  if (item?.lease === undefined || item.token !== token) return undefined;
  const dropped = dropLease(item, now);
  switch (end.kind) {
    case "finished": {
      const { dueInMs, carried, seen } = end.result;
      return {
        ...dropped,
        handled: item.started,
        dueAt: earliest(
          dueInMs === undefined ? undefined : Math.ceil(now + Math.max(minDueMs, dueInMs)),
          tellAgainAt(item, now),
        ),
        attempts: 0,
        died: false,
        input: undefined,
        fault: undefined,
        carried,
        seen: seen ?? item.seen,
      };
    }
    case "failed":
      return { ...dropped, dueAt: now + attemptBackOffMs(item.attempts), died: false, fault: end.fault };
    case "handedBack":
    case "cutOff":
      return handedBack(item, now);
    case "parked":
      return { ...dropped, handled: item.started, dueAt: now + recheckMs, died: false, phase: "Poisoned" };
  }
}

/** When a run has to tell the Events that could not be told; undefined if there are none. */
function tellAgainAt({ untold }: WorkItem, now: number): number | undefined {
  const oldest = untold?.[0];
  if (oldest === undefined) return undefined;
  return Math.ceil(now + Math.min(untoldRetryMaxMs, Math.max(untoldRetryMs, now - oldest.since)));
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function dropLease(item: WorkItem, now: number): WorkItem {
  const waits = item.requested > item.started;
  return { ...item, lease: undefined, wakeUntil: waits ? now + followUpWaitMs(item, now) + wakeMs : undefined };
}

/** The item free to be taken at once, with the attempt not counted: for a holder that was stopped from outside. */
function handedBack(item: WorkItem, now: number): WorkItem {
  const attempts = Math.max(0, item.attempts - 1);
  return { ...item, ...hintedIf(false), lease: undefined, attempts, dueAt: now, wakeUntil: now + wakeMs };
}

/**
 * The item of a holder whose process is known to be dead, free to be taken at once. The death counts as an attempt of an
 * object that ran alone in that process; if several objects ran in it, it counts for none of them.
 */
export function leftBehind(item: WorkItem, now: number): WorkItem {
  const { attempts, died } = item;
  return { ...handedBack(item, now), attempts: died ? attempts : Math.max(0, attempts - 1), died: true };
}

export interface FollowUp {
  readonly wakeUp: WakeUp;
  readonly delayMs: number;
}

/**
 * The messages that an item without a lease needs to go on: one for a request that came during the run, at once or, if all of
 * them are hints, after a moment; and one for its `dueAt` if the queue can delay that long (otherwise the sweep sends it).
 */
function followUps(item: WorkItem, now: number): readonly FollowUp[] {
  const { dueAt } = item;
  const dirty = item.requested > item.started;
  const messages: FollowUp[] = dirty ? [{ wakeUp: wakeUpOf(item), delayMs: followUpWaitMs(item, now) }] : [];
  // A waiting request runs at once and makes a new dueAt, but not during a back-off.
  if (dueAt === undefined || (dirty && item.attempts === 0)) return messages;
  const delayMs = Math.max(0, dueAt - now);
  return delayMs > maxDelayMs ? messages : [...messages, { wakeUp: { ...wakeUpOf(item), dueAt }, delayMs }];
}

/** The wake-up of an item that names no lease and no due time. */
export function wakeUpOf({ key }: Pick<WorkItem, "key">): WakeUp {
  return { key: formatWorkKey(key) };
}

export interface SweepDecision {
  readonly item: WorkItem;
  readonly wakeUp: WakeUp;
}

/** Wakes an overdue item again, after `delayMs`, and moves it out of the index for as long as that wake-up may take. */
function onSweep(item: WorkItem, now: number, delayMs = 0): SweepDecision | undefined {
  const at = overdueAt(item);
  if (at === undefined || at > now) return undefined;
  const { dueAt } = item;
  const due = dueAt !== undefined && dueAt <= now;
  return {
    item: { ...item, wakeUntil: now + delayMs + wakeMs, woken: (item.woken ?? 0) + 1 },
    wakeUp: due ? { ...wakeUpOf(item), dueAt } : wakeUpOf(item),
  };
}

const maxFaults = 5;

/** A call to the table that has failed, and everything that decides whether it is tried again. */
export interface FailedCall {
  /** How often it has failed, this time included. */
  readonly faults: number;
  /** Whether one of its writes gave no answer. */
  readonly inDoubt: boolean;
  /** Whether the caller has time to wait for an answer; false if the caller does not say. */
  readonly hasTime: boolean;
}

/**
 * Whether a call is tried again: a few times in any case, and for as long as there is time if it may have taken a lease or if
 * it ends a run. Otherwise the holder would look dead to others, and the table's fault would count against the object.
 */
function tryAgain({ faults, inDoubt, hasTime }: FailedCall): boolean {
  return faults < maxFaults || (inDoubt && hasTime);
}
