import type { JsonObject } from "../json.ts";
import type { WorkKey } from "../work-key.ts";
import type { UntoldEvent } from "./event-sink.ts";
import type { Fence } from "./fence.ts";
import { PortError } from "./port-error.ts";
import type { Seen } from "./run.ts";

/** The right to work on an object, held by one handler at a time. Its number is the item's {@link WorkItem.token}. */
export interface Lease {
  /**
   * Random, and new for each try to take the lease: a handler whose write got no answer recognises its own name here, and a wake-up
   * that takes the lease over has to name it.
   */
  readonly holder: string;
  /** Raised by each renewal. A lease whose (holder, renewals) do not change for its whole length is dead. */
  readonly renewals: number;
}

/**
 * Everything that the queue knows about one object. Times are wall time in milliseconds since 1970, of the machine that wrote them:
 * they say when to look again, and never who may write.
 */
export interface WorkItem {
  readonly key: WorkKey;
  /** 1 at first, one more with each write. */
  readonly version: number;
  /** The number of requests that no waiting request already covered. */
  readonly requested: number;
  /** The value of `requested` with which the latest run started, or that waits for `dueAt` in a back-off. Later requests wait. */
  readonly started: number;
  /** The value of `started` of the latest run that ended well. */
  readonly handled: number;
  /** The number of the latest lease. It never decreases, also while no lease is held. */
  readonly token: number;
  readonly lease: Lease | undefined;
  /** Until then a wake-up or a holder counts as under way; after it a wake-up is sent again. */
  readonly wakeUntil: number | undefined;
  /** How many sweeps have woken the object since its last run began; undefined for none. */
  readonly woken: number | undefined;
  /** When to run without a request. */
  readonly dueAt: number | undefined;
  /** Starts since the last end, on the same {@link input}. */
  readonly attempts: number;
  /** Whether the process of the latest run died before the run ended. The next run then is alone in its process. */
  readonly died: boolean;
  /** `Poisoned`: the object is parked, and not run again until its input changes. */
  readonly phase: "Active" | "Poisoned";
  /** The input of a run (spec, artifact) as text; known once a run did not end. */
  readonly input: string | undefined;
  /** Why the latest attempt failed, for people; under 1 KB. */
  readonly fault: string | undefined;
  /** Whether all waiting requests are hints: they may wait a moment for further ones. */
  readonly hinted: true | undefined;
  /** When the latest run began that was only for hints. */
  readonly hintedAt: number | undefined;
  /** What the flow passes on to its next run; under 4 KB. */
  readonly carried: JsonObject | undefined;
  /** Events that runs could not send yet, in their order; undefined for none. The next run tells them first. */
  readonly untold?: readonly UntoldEvent[] | undefined;
  /** The input of the last run that ended. */
  readonly seen: Seen | undefined;
  /** Fields that another release has written: they stay in the row as they are. */
  readonly foreign?: JsonObject | undefined;
}

/** A row that this release cannot read as a work item: another release has written it, or it is damaged. */
export class UnreadableWorkItem extends PortError<"unreadable"> {
  override readonly name = "UnreadableWorkItem";
  /** The row's key. */
  readonly row: string;

  constructor(row: string, why: string, options?: ErrorOptions) {
    super("unreadable", `the work item of ${row} cannot be read, another release may have written it: ${why}`, options);
    this.row = row;
  }
}

/** The items of a list and its unreadable rows, so that one bad row does not hide the others. */
export interface ListedItems {
  readonly items: readonly WorkItem[];
  readonly unreadable: readonly UnreadableWorkItem[];
}

/** The store of work items. One item is one row: each call reads or writes one, and reads are strongly consistent. */
export interface WorkItems {
  /** Throws an {@link UnreadableWorkItem} if this release cannot read the row. */
  get(key: WorkKey, signal: AbortSignal): Promise<WorkItem | undefined>;
  /**
   * Stores the item if the stored version is `item.version - 1` (for version 1: if there is none); otherwise changes nothing and
   * returns `conflict`. A call that throws may have stored it nevertheless.
   */
  put(item: WorkItem, signal: AbortSignal): Promise<"stored" | "conflict">;
  /**
   * Items whose {@link overdueAt} is at or before `now`, in pages of at most {@link overduePageSize}, roughly the longest overdue
   * first. Each is passed once, even if the caller leaves it unchanged, and is read right before its page. The index may lag behind,
   * and items of the present minute may be left for the next call, so the answer is a hint.
   *
   * @param isWanted asked before each page: items of other clusters are passed over without being read
   */
  overdue(now: number, isWanted: (cluster: string) => boolean, signal: AbortSignal): AsyncIterable<ListedItems>;
}

/** The most items of one page of {@link WorkItems.overdue}. */
export const overduePageSize = 100;

/** Only a store on one machine can list its leases. The hosted store need not: its leases expire by themselves. */
export interface LeasedItems {
  /** Every item that has a lease. */
  leased(signal: AbortSignal): Promise<ListedItems>;
}

/** When the sweep has to look at an item, undefined if it waits for nothing. The key of the due index. */
export function overdueAt({ wakeUntil, dueAt }: Pick<WorkItem, "wakeUntil" | "dueAt">): number | undefined {
  return wakeUntil ?? dueAt;
}

/** Whether a write under this fence is allowed: every store checks this condition in the transaction of the write. */
export function holdsLease(item: WorkItem | undefined, fence: Fence): item is WorkItem {
  return item?.lease !== undefined && item.token === fence.token;
}
