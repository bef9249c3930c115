import type { WorkKey } from "../work-key.ts";

/**
 * What was last seen of each custom resource, as a short text: so that a list of everything asks for runs of nothing but
 * what has changed since. A hint: one that is lost or old costs a run.
 */
export interface Sightings {
  get(key: WorkKey, signal: AbortSignal): Promise<string | undefined>;
  put(key: WorkKey, sighting: string, signal: AbortSignal): Promise<void>;
  remove(key: WorkKey, signal: AbortSignal): Promise<void>;
  /** The key of every sighting of this kind in this cluster. */
  keys(kind: Pick<WorkKey, "cluster" | "group" | "kind">, signal: AbortSignal): Promise<readonly WorkKey[]>;
}
