import type { WorkKey } from "../work-key.ts";

export interface Sighting {
  readonly key: WorkKey;
  readonly sighting: string;
}

/**
 * What was last seen of each custom resource, as a short text: so that a list of everything asks for runs of nothing but
 * what has changed since. A hint: one that is lost or old costs a run.
 */
export interface Sightings {
  get(key: WorkKey, signal: AbortSignal): Promise<string | undefined>;
  put(key: WorkKey, sighting: string, signal: AbortSignal): Promise<void>;
  remove(key: WorkKey, signal: AbortSignal): Promise<void>;
  /** Every sighting of this kind in this cluster, in few calls however many there are. */
  list(kind: Pick<WorkKey, "cluster" | "group" | "kind">, signal: AbortSignal): Promise<readonly Sighting[]>;
}
