import type { ReportedEvent } from "../event-manifest.ts";
import type { EventRelation } from "../event-relation.ts";

/** Where each Event that a run has recorded goes too, so that Alerts can send it. */
export interface EventSink {
  /**
   * Takes an Event of an object in this cluster. What goes wrong is not the fault of the object: it is logged, and nothing is thrown but
   * the reason that `signal` was aborted with.
   *
   * @param relation undefined for an event that says nothing about whether its object is ready
   */
  tell(cluster: string, event: ReportedEvent, relation: EventRelation | undefined, signal: AbortSignal): Promise<void>;
}
