import type { WorkKey } from "../work-key.ts";

/** The way into the work queue: "look at this object, something may have changed". Cheap to repeat. */
export interface ReconcileRequests {
  /** If this release cannot read the work item of the object, the log names it and the request is lost. */
  request(key: WorkKey, reason: string, signal: AbortSignal): Promise<void>;
}

/** The way into the work queue for announcements from outside, in any number: events and webhooks. */
export interface ReconcileHints {
  /**
   * As {@link ReconcileRequests.request}. The first hint for a quiet object is served at once; further ones may wait for a second, so that
   * a burst is one or two runs. A run begins after the last hint in any case.
   */
  hint(key: WorkKey, reason: string, signal: AbortSignal): Promise<void>;
}
