import type { WorkKey } from "../work-key.ts";

/** A custom resource and a short text that changes when a run has to look at it. */
export interface ObservedResource {
  readonly key: WorkKey;
  readonly summary: string;
}

/**
 * The last observed summary of each custom resource, so that a list of all resources asks for runs of the changed ones
 * only. A hint: a summary that is lost or old costs one run.
 */
export interface ObservedResources {
  get(key: WorkKey, signal: AbortSignal): Promise<string | undefined>;
  put(key: WorkKey, summary: string, signal: AbortSignal): Promise<void>;
  remove(key: WorkKey, signal: AbortSignal): Promise<void>;
  /** Every summary of this kind in this cluster, in few calls however many there are. */
  list(kind: Pick<WorkKey, "cluster" | "group" | "kind">, signal: AbortSignal): Promise<readonly ObservedResource[]>;
}
