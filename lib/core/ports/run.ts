import type { JsonObject } from "../json.ts";
import type { WorkKey } from "../work-key.ts";
import type { EventSink } from "./event-sink.ts";
import type { Fence } from "./fence.ts";

/** One run of a flow: its object, its time limit, and the lease that lets it write. */
export interface Run {
  readonly key: WorkKey;
  /** Aborted when the time is up, the process ends or the lease is lost. */
  readonly signal: AbortSignal;
  /** Passed with every write to inventory, ledger and artifact records. */
  readonly fence: Fence;
  /**
   * Throws `LeaseLost` once the lease may no longer be ours: 15 s before its length has passed since the last renewal, by wall
   * time or by monotonic time, whichever has advanced more. Called right before each write to the cluster is sent.
   */
  assertLease(): void;
  /** The state that the flow's last run passed on by {@link FlowResult.carried}; undefined if there is none or it was lost. */
  readonly carried: JsonObject | undefined;
  /** Whether this run was requested since the last one ended; false if only its interval is due. */
  readonly isRequested: boolean;
  /** Whether an earlier run did not end: it threw, ran out of time or died, so what it has left behind is not known. */
  readonly isRetry?: boolean;
  /** Where the Events that it records go too; absent where nothing sends them. */
  readonly events?: EventSink;
  /** Whether a newer request for the same object has arrived. A run that waits for health then ends early. */
  superseded(): Promise<boolean>;
}

/** The inputs of a run. */
export interface Seen {
  readonly objectUid: string;
  readonly clusterUid: string;
  /** The revision of the source; absent if the run read none. */
  readonly revision?: string;
}

/** A run's answer to its queue. `dueInMs`: when to run again without an event; undefined for never. */
export interface FlowResult {
  readonly dueInMs: number | undefined;
  /**
   * A small note to the next run (under 4 KB, no secret), kept in the work item: since when it waits for health, for
   * example. A hint like any other: a run without it does the same, only later.
   */
  readonly carried?: JsonObject;
  /** Kept in the work item, for people and for the sweep. */
  readonly seen?: Seen;
  /** The run changed nothing and reported nothing new: no metric counts it. */
  readonly isQuiet?: boolean;
  /** Why the run did not reach its end, for the log: the reason and the message that the object's Ready condition shows. */
  readonly failure?: { readonly reason: string; readonly message: string };
  /** One word for logs: `applied`, `failed`, `waiting`, `suspended`, `deleted`, `absent`, … */
  readonly outcome: string;
}

/** The reconcile of one kind. Throws only for bugs and unexpected faults: the queue then backs off and counts the attempt. */
export type Flow = (run: Run) => Promise<FlowResult>;
