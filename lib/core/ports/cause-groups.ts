import type { Cause } from "../event-relation.ts";

/** Which group: the messages of one Alert that have one cause. */
export interface CauseGroupKey {
  readonly cluster: string;
  readonly alert: { readonly namespace: string; readonly name: string };
  readonly cause: Cause;
}

/** A group of messages with one cause, from the first that waits for the cause until it is over. Times are milliseconds since 1970. */
export interface CauseGroup {
  /** When it was opened. Objects that wait belong to it by this time. */
  readonly opened: number;
  /** Whether the cause itself has sent a message about its fault. */
  readonly isToldByCause: boolean;
  /** The object for which the cause itself waits, if it has reported one. */
  readonly root?: Cause;
  /** The reasons that the waiting objects have reported. */
  readonly reasons: readonly string[];
  /** When its last event was seen, with an accuracy of {@link seenEveryMs}. */
  readonly seen: number;
  /** Since when a message of it is on its way to the queue; undefined if all are there. */
  readonly sending?: number;
  /** When it was over; undefined while it is open. */
  readonly over?: number;
}

/** A {@link CauseGroup} as it was read, with the condition for its next write. */
export interface StoredCauseGroup {
  readonly group: CauseGroup;
  readonly version: string;
}

/** Groups of messages by their cause. Each is forgotten a day after its last write. */
export interface CauseGroups {
  /** The group as last written; undefined if there is none, or if it has expired at `now`. */
  get(key: CauseGroupKey, now: number, signal: AbortSignal): Promise<StoredCauseGroup | undefined>;
  /**
   * Writes the group if it is still the one that was read, and answers its version; undefined if another one was written meanwhile. Only
   * one of several concurrent writes is stored.
   *
   * @param before version that was read; undefined if there was none
   */
  put(
    key: CauseGroupKey,
    group: CauseGroup,
    before: string | undefined,
    now: number,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Records that an object (`Kind/namespace/name`) waits in the group that was opened then. May be repeated. */
  join(key: CauseGroupKey, opened: number, waiting: string, now: number, signal: AbortSignal): Promise<void>;
  /** Whether it waits there. */
  hasJoined(key: CauseGroupKey, opened: number, waiting: string, signal: AbortSignal): Promise<boolean>;
  /** All objects that wait there, in order of their names. */
  waiting(key: CauseGroupKey, opened: number, signal: AbortSignal): Promise<readonly string[]>;
}

/** The group is written again for an event that changes nothing else, but no more often. */
export const seenEveryMs = 300_000;

/** A group that was not written for so long is forgotten. */
export const groupKeptMs = 24 * 3_600_000;
