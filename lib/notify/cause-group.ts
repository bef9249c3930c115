import type { Cause } from "../core/event-relation.ts";
import { subject } from "../core/object-ref.ts";
import { type CauseGroup, seenEveryMs } from "../core/ports/cause-groups.ts";

/** A message that was to be sent so long ago, and is not known to be in the queue, was lost with its process: another one is sent. */
export const sendingMs = 60_000;

/**
 * A group without an event for so long holds no message back: the cause may have been ready in between without an event. Waiting
 * objects report it every five minutes.
 */
export const quietMs = 900_000;

/** A cause whose reason changes all the time makes so many messages of those that wait for it. */
const maxReasons = 20;

/** An event, as far as groups care. */
export interface GroupedEvent {
  readonly reason: string;
  /** When it was recorded, in whole seconds. */
  readonly at: number;
}

/** What becomes of the message of an object that waits for the cause of a group. */
export interface WaitingDecision {
  readonly isSent: boolean;
  /** The group to write before anything is sent; undefined if it stays as it is. */
  readonly next?: CauseGroup;
  /** The group that the object joins, by the time of its opening; undefined for none. */
  readonly joins?: number;
}

/**
 * The first message of those that wait opens the group. While it is open another one is sent only for a reason that was not told yet; none
 * once the cause itself has told what is wrong. Pure.
 *
 * @param group the group of the cause as it is; undefined if there is none
 */
export function decideWaiting(
  group: CauseGroup | undefined,
  { at, reason }: GroupedEvent,
  now: number,
): WaitingDecision {
  if (group === undefined || group.over !== undefined) {
    if (isOfBefore(group, at)) return { isSent: false };
    const next = { ...openGroup(group, now), reasons: [reason], sending: now };
    return { isSent: true, next, joins: next.opened };
  }
  const joins = group.opened;
  const isNews = !group.isToldByCause && !group.reasons.includes(reason) && group.reasons.length < maxReasons;
  if (isNews || isLost(group, now) || now - group.seen >= quietMs) {
    const reasons = [...new Set([...group.reasons, reason])];
    return { isSent: true, next: { ...group, reasons, seen: now, sending: now }, joins };
  }
  const isSeen = now - group.seen < seenEveryMs;
  return { isSent: false, joins, ...(isSeen ? {} : { next: { ...group, seen: now } }) };
}

/** The group after the cause has told that it fails, which is always sent; undefined if that changes nothing. Pure. */
export function afterFailure(
  group: CauseGroup | undefined,
  { at }: Pick<GroupedEvent, "at">,
  now: number,
): CauseGroup | undefined {
  if (group === undefined || group.over !== undefined) {
    return isOfBefore(group, at) ? undefined : { ...openGroup(group, now), isToldByCause: true };
  }
  const { root, ...ofItself } = group;
  const isKnown = group.isToldByCause && root === undefined && group.sending === undefined;
  if (isKnown && now - group.seen < seenEveryMs) return undefined;
  return { ...sent(ofItself), isToldByCause: true, seen: now };
}

/**
 * The group of an object that has told that it waits for another one, the root; undefined if that changes nothing. Objects that wait
 * for the object also wait for the root. Pure.
 */
export function afterWaiting(
  group: CauseGroup | undefined,
  { at, root }: { readonly at: number; readonly root: Cause },
  now: number,
): CauseGroup | undefined {
  if (group === undefined || group.over !== undefined) {
    return isOfBefore(group, at) ? undefined : { ...openGroup(group, now), isToldByCause: true, root };
  }
  const isKnown = group.root !== undefined && subject(group.root) === subject(root);
  if (isKnown && now - group.seen < seenEveryMs) return undefined;
  return { ...group, isToldByCause: true, root, seen: now };
}

/** The group when the cause is ready again, before that is sent; undefined if there is nothing to tell. Pure. */
export function decideOver(group: CauseGroup | undefined, now: number): CauseGroup | undefined {
  if (group === undefined || (group.over !== undefined && !isLost(group, now))) return undefined;
  return { ...group, over: group.over ?? now, sending: now };
}

/** The group when its message is in the queue. Pure. */
export function sent({ sending: _sending, ...group }: CauseGroup): CauseGroup {
  return group;
}

const secondMs = 1_000;

/** Whether a late event belongs to the outage that is over. */
function isOfBefore(group: CauseGroup | undefined, at: number): boolean {
  return group?.over !== undefined && at + secondMs <= group.over;
}

/** Opened later than the one before it, whose objects do not wait in this one. */
function openGroup(before: CauseGroup | undefined, now: number): CauseGroup {
  return { opened: Math.max(now, (before?.opened ?? 0) + 1), isToldByCause: false, reasons: [], seen: now };
}

function isLost({ sending }: CauseGroup, now: number): boolean {
  return sending !== undefined && now - sending >= sendingMs;
}
