import type { WorkKey } from "../work-key.ts";

/** A custom resource and a short text that changes when a run has to look at it. */
export interface ObservedResource {
  readonly key: WorkKey;
  /** Undefined for an object that is only marked: it has not been observed, or no longer is. */
  readonly summary: string | undefined;
  /** Undefined for an object that is Ready, as far as its last run knows. */
  readonly notReady?: NotReady;
}

/** The results of an object's runs. */
export interface NotReady {
  /** The first of these runs, wall time in milliseconds. */
  readonly since: number;
  /** The outcome of the last run: `failed`, `stalled`, `waiting`, … */
  readonly outcome: string;
}

/**
 * The last observed summary of each custom resource, so that a list of all resources asks for runs of the changed ones
 * only. A hint: a summary that is lost or old costs one run.
 */
export interface ObservedResources {
  get(key: WorkKey, signal: AbortSignal): Promise<string | undefined>;
  put(key: WorkKey, summary: string, signal: AbortSignal): Promise<void>;
  remove(key: WorkKey, signal: AbortSignal): Promise<void>;
  /** Marks the object as not Ready. An earlier `since` stays. It keeps the summary, and {@link put} keeps the mark. */
  markNotReady(key: WorkKey, notReady: NotReady, signal: AbortSignal): Promise<void>;
  /** Removes the mark, if there is one. */
  markReady(key: WorkKey, signal: AbortSignal): Promise<void>;
  /** Every summary and mark of this kind in this cluster, in few calls however many there are. */
  list(kind: Pick<WorkKey, "cluster" | "group" | "kind">, signal: AbortSignal): Promise<readonly ObservedResource[]>;
}
