import type { WorkKey } from "../work-key.ts";

/** The way into the work queue: "look at this object, something may have changed". Cheap to repeat. */
export interface ReconcileRequests {
  request(key: WorkKey, reason: string, signal: AbortSignal): Promise<void>;
}
