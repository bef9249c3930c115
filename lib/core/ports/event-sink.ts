import type { ReportedEvent } from "../event-manifest.ts";
import type { EventRelation } from "../event-relation.ts";

/** Also receives each Event that a run records, so that Alerts can send it. */
export interface EventSink {
  /**
   * Takes an Event of an object in this cluster. May be repeated. Throws if it could not take all of it: what goes wrong is not the fault of
   * the object, so the caller keeps the Event and tells it again.
   *
   * @param relation undefined for an event that says nothing about whether its object is ready
   */
  tell(cluster: string, event: ReportedEvent, relation: EventRelation | undefined, signal: AbortSignal): Promise<void>;
}

/** An Event that could not be sent yet. */
export interface UntoldEvent {
  readonly event: ReportedEvent;
  readonly relation?: EventRelation | undefined;
  /** When it was due, wall time in milliseconds since 1970. */
  readonly since: number;
}
