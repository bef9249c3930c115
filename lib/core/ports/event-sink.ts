import type { ReportedEvent } from "../event-manifest.ts";
import type { ObjectRef } from "../object-ref.ts";

/** An object that others are built from or wait for. */
export type Cause = Pick<ObjectRef, "kind" | "name" | "namespace">;

/**
 * What an event has to do with other objects. `waits`: its object can do nothing until this one is ready again; `why` is the reason of
 * that one's Ready condition, as far as it is known. `failed`: its object is not ready, and no other one is the cause. `recovered`: its
 * object was not ready before and is now, and it is built from these objects or waits for them.
 */
export type EventRelation =
  | { readonly kind: "waits"; readonly cause: Cause; readonly why?: string }
  | { readonly kind: "failed" }
  | { readonly kind: "recovered"; readonly from: readonly Cause[] };

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
