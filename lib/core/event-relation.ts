import type { ObjectRef } from "./object-ref.ts";

/** An object that others depend on. */
export type Cause = Pick<ObjectRef, "kind" | "name" | "namespace">;

/**
 * How an event relates to other objects. `waits`: its object can do nothing until this one is ready again; `why` is the reason of that
 * one's Ready condition, if known. `failed`: its object is not ready, and no other object is the cause. `recovered`: its object was not
 * ready before and is now, and it is built from these objects or waits for them.
 */
export type EventRelation =
  | { readonly kind: "waits"; readonly cause: Cause; readonly why?: string }
  | { readonly kind: "failed" }
  | { readonly kind: "recovered"; readonly from: readonly Cause[] };

/** Whether the object of an event waits for this one, or fails by itself if there is none. */
export function waitsOrFailed(cause: Cause | undefined): EventRelation {
  return cause === undefined ? { kind: "failed" } : { kind: "waits", cause };
}
