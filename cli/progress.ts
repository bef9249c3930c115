import type { LiveObject } from "../lib/core/manifest.ts";
import type { VersionedRef } from "../lib/core/object-ref.ts";
import { ApiError, type Cluster } from "../lib/core/ports/cluster.ts";
import { systemClock } from "../lib/core/system-clock.ts";
import { conditionOf, valueAt } from "./reconcilable.ts";

/** How far an object is, as flux reads it: Ready=False alone is still on its way, since it is tried again. */
export type Progress =
  | { readonly kind: "current" }
  | { readonly kind: "in progress" }
  | { readonly kind: "failed"; readonly message: string };

export function progressOf(object: LiveObject): Progress {
  const { generation, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return { kind: "failed", message: "the object is being deleted" };
  const observed = valueAt(object, "status", "observedGeneration");
  const stalled = conditionOf(object, "Stalled");
  // Some stalls leave the status behind the object; where the condition speaks of the object as it is, it is final all the same.
  const isOfNow = [observed ?? generation, stalled?.observedGeneration].includes(generation);
  if (stalled?.status === "True" && isOfNow) return { kind: "failed", message: stalled.message };
  if (observed !== undefined && observed !== generation) return { kind: "in progress" };
  if (conditionOf(object, "Reconciling")?.status === "True") return { kind: "in progress" };
  const ready = conditionOf(object, "Ready");
  return ready === undefined || ready.status === "True" ? { kind: "current" } : { kind: "in progress" };
}

const watchAgainMs = 1_000;

/**
 * The object as soon as `isDone` holds for it, learnt by watching it. Throws what `isDone` throws, an error where the object
 * goes away, or the signal's reason.
 */
export async function waitFor(
  cluster: Cluster,
  ref: VersionedRef,
  isDone: (object: LiveObject) => boolean,
  signal: AbortSignal,
): Promise<LiveObject> {
  const { group, version, kind, namespace, name } = ref;
  const query = { group, version, kind, namespace, fieldSelector: `metadata.name=${name}` };
  for (;;) {
    try {
      for await (const event of cluster.watch(query, signal)) {
        if (event.type === "BOOKMARK") continue;
        if (event.type === "DELETED") throw new Error(`${kind} ${name} has been deleted`);
        if (isDone(event.object)) return event.object;
      }
    } catch (error) {
      // A watch may break off at any time; what it has missed, the next one tells first.
      if (!(error instanceof ApiError) || !canWatchAgain(error)) throw error;
    }
    await systemClock.sleep(watchAgainMs, signal);
  }
}

function canWatchAgain({ code }: ApiError): boolean {
  return code === 0 || code === 410 || code === 429 || code >= 500;
}
