import { z } from "zod";

const counter = z.int().min(0);

/** The longest reason of a hold, in UTF-16 code units. */
export const maxHoldReasonChars = 1_000;

/** Why no run begins in a cluster, for every process of the installation. */
export const ClusterHold = z.object({
  /** `unreachable`: its API server gives no answer. `refused`: this installation may not write to it (paused, another owner). */
  kind: z.enum(["unreachable", "refused"]),
  /** For people, without secrets, at most {@link maxHoldReasonChars}. */
  reason: z.string().max(maxHoldReasonChars),
  /** Wall time in milliseconds since 1970 of the process that found it first. For people: no code compares it with a clock. */
  since: z.number(),
  /** Raised by each probe that finds the cluster so again. A hold that is not renewed for minutes does not count. */
  probes: counter,
  /** How many sweeps of the cluster in a row got no answer. Unset before the first, and in rows of former releases. */
  missedSweeps: counter.exactOptional(),
});
export type ClusterHold = Readonly<z.infer<typeof ClusterHold>>;

/** A process that has had runs of a cluster for some seconds. */
export const BusyProcess = z.object({
  /** A random name, new with each process. */
  process: z.string().min(1).max(100),
  /** Its runs of that cluster at the last renewal. */
  runs: counter,
  /** Raised by each renewal. If a row does not change, its process is dead. */
  renewals: counter,
});
export type BusyProcess = Readonly<z.infer<typeof BusyProcess>>;

export interface ClusterState {
  readonly hold: ClusterHold | undefined;
  /** In no order. */
  readonly busy: readonly BusyProcess[];
}

/**
 * What the processes of an installation share about one cluster. Hints: a write that is lost or late lets some runs begin too early or too
 * late, and never lets two runs of an object begin. A row that cannot be read counts as absent.
 */
export interface ClusterStates {
  /** All rows of a cluster in one query. The latest writes of other processes may be missing for a moment. */
  read(cluster: string, signal: AbortSignal): Promise<ClusterState>;
  hold(cluster: string, hold: ClusterHold, signal: AbortSignal): Promise<void>;
  /** Removes the hold, if there is one. */
  release(cluster: string, signal: AbortSignal): Promise<void>;
  /** Replaces the row of that process. */
  setBusy(cluster: string, busy: BusyProcess, signal: AbortSignal): Promise<void>;
  removeBusy(cluster: string, process: string, signal: AbortSignal): Promise<void>;
}

/** A row of a cluster as its text, or undefined if that is not readable: another release has written it, or it is damaged. */
export function readRow<Row>(schema: z.ZodType<Row>, text: string): Row | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    // Not JSON: as unreadable as any other text.
    return undefined;
  }
}
