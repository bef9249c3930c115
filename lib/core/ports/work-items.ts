import type { JsonObject } from "../json.ts";
import type { Seen } from "../run.ts";
import type { WorkKey } from "../work-key.ts";
import type { Fence } from "./fence.ts";

/** The right to work on an object, held by one handler at a time. Its number is the item's {@link WorkItem.token}. */
export interface Lease {
  /**
   * Random, one per try to take it: a handler whose write failed after having succeeded finds itself here, and a wake-up
   * that takes the lease over has to name it.
   */
  readonly holder: string;
  /** Raised by each renewal. A lease whose (holder, renewals) stand still for its whole length is dead. */
  readonly renewals: number;
}

/**
 * All that the queue knows of one object. Times are wall time in milliseconds since 1970, of whichever machine wrote
 * them: they say when to look again and never who may write.
 */
export interface WorkItem {
  readonly key: WorkKey;
  /** 1 at first, one more with each write. */
  readonly version: number;
  /** How often something asked for a run that no waiting request covered already. */
  readonly requested: number;
  /** The value of `requested` that the latest run began with, or that waits for `dueAt` in a back-off: what is above it waits. */
  readonly started: number;
  /** The value of `started` with which the latest run that ended well had begun. */
  readonly handled: number;
  /** The number of the latest lease. Never falls, also while nobody holds one. */
  readonly token: number;
  readonly lease: Lease | undefined;
  /** Until then a wake-up or a holder is trusted to be on its way; past it anybody sends a wake-up again. */
  readonly wakeUntil: number | undefined;
  /** When to run without a request. */
  readonly dueAt: number | undefined;
  /** Starts since the last end, on the same {@link input}. */
  readonly attempts: number;
  /** Whether the latest run that began left no end: its process died. The next one then runs alone in its process. */
  readonly died: boolean;
  /** `Poisoned`: parked, not run again until the input is another. */
  readonly phase: "Active" | "Poisoned";
  /** What a run depends on (spec, artifact), as text; known once a run did not end. */
  readonly input: string | undefined;
  /** Why the latest attempt did not end well, for people; under 1 KB. */
  readonly fault: string | undefined;
  /** What the flow hands on to its next run; under 4 KB. */
  readonly memo: JsonObject | undefined;
  /** What the last run that ended saw. */
  readonly seen: Seen | undefined;
  /** Fields that another release has written: they stay in the row as they are. */
  readonly foreign?: JsonObject | undefined;
}

/** A row that is no work item of this release: another release has written it, or something has damaged it. */
export class UnreadableWorkItem extends Error {
  /** The row's key. */
  readonly row: string;

  constructor(row: string, reason: string, options?: ErrorOptions) {
    super(`the work item of ${row} cannot be read, another release may have written it: ${reason}`, options);
    this.name = "UnreadableWorkItem";
    this.row = row;
  }
}

/** Items of a list, and what of it could not be read, so that one row does not hide the others. */
export interface ListedItems {
  readonly items: readonly WorkItem[];
  readonly unreadable: readonly UnreadableWorkItem[];
}

/** Where work items are. One item is one row: each call reads or writes one, and reads are strongly consistent. */
export interface WorkItems {
  /** Throws an {@link UnreadableWorkItem} where the row is none of this release. */
  get(key: WorkKey, signal: AbortSignal): Promise<WorkItem | undefined>;
  /**
   * Stores the item where the stored one's version is `item.version - 1` (1: where there is none), else changes nothing
   * and answers `conflict`. A call that throws may have stored it all the same.
   */
  put(item: WorkItem, signal: AbortSignal): Promise<"stored" | "conflict">;
  /**
   * Items whose {@link overdueAt} is at or before `now`, the longest overdue first, at most `limit`; rows that cannot be
   * read do not count. Read from an index: may lag behind, so an answer is a hint.
   */
  overdue(now: number, limit: number, signal: AbortSignal): Promise<ListedItems>;
}

/** What only a store in one place can list; the hosted one has no need of it, its leases die by themselves. */
export interface LeasedItems {
  /** Every item that has a lease. */
  leased(signal: AbortSignal): Promise<ListedItems>;
}

/** When the sweep has to look at an item; undefined where there is nothing to wait for. The key of the due index. */
export function overdueAt({ wakeUntil, dueAt }: Pick<WorkItem, "wakeUntil" | "dueAt">): number | undefined {
  return wakeUntil ?? dueAt;
}

/** Whether a write under this fence may go through: the condition that every store checks in the write's own transaction. */
export function holdsLease(item: WorkItem | undefined, fence: Fence): item is WorkItem {
  return item?.lease !== undefined && item.token === fence.token;
}
