import type { WorkKey } from "../work-key.ts";

/** The way into the work queue: "look at this object, something may have changed". Cheap to repeat. */
export interface ReconcileRequests {
  /** An object whose work item this release cannot read is named in the log, and the request is lost. */
  request(key: WorkKey, reason: string, signal: AbortSignal): Promise<void>;
}
