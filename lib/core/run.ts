import type { JsonObject } from "./json.ts";
import type { Fence } from "./ports/fence.ts";
import type { WorkKey } from "./work-key.ts";

/** One run of a flow: what it is about, how long it may go on, and the lease that lets it write. */
export interface Run {
  readonly key: WorkKey;
  /** Aborted when the time is up, the process ends or the lease is lost. */
  readonly signal: AbortSignal;
  /** Goes with every write to inventory, ledger and artifact records. */
  readonly fence: Fence;
  /**
   * Throws {@link LeaseLost} once the lease may no longer be ours: 15 s before its length has passed since the last
   * renewal, by wall time or by monotonic time, whichever says more. Called before each write to the cluster is sent.
   */
  assertLease(): void;
  /** What the flow's last run handed on by {@link FlowResult.memo}; undefined where there is none or it was lost. */
  readonly memo: JsonObject | undefined;
  /** Whether a newer request for the same object has come in: a wait (for health) should give way to it. */
  superseded(): Promise<boolean>;
}

/** What a run looked at. */
export interface Seen {
  readonly objectUid: string;
  readonly clusterUid: string;
  /** Of the source, where there was one. */
  readonly revision?: string;
}

/** When a flow wants to run again without an event: `dueInMs` from now, or not at all. */
export interface FlowResult {
  readonly dueInMs: number | undefined;
  /**
   * A small note to the next run (under 4 KB, no secret), kept in the work item: since when it waits for health, for
   * example. A hint like any other: a run without it does the same, only later.
   */
  readonly memo?: JsonObject;
  /** Kept in the work item, for people and for the sweep. */
  readonly seen?: Seen;
  /** A word for logs: `applied`, `failed`, `waiting`, `suspended`, `deleted`, `absent`, … */
  readonly outcome: string;
}

/** The reconcile of one kind. Throws only for bugs and unforeseen faults: the queue then backs off and counts. */
export type Flow = (run: Run) => Promise<FlowResult>;
