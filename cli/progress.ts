import { requestedAtAnnotation } from "../lib/api/names.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { VersionedRef } from "../lib/core/object-ref.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { systemClock } from "../lib/core/system-clock.ts";
import { conditionOf, textAt, valueAt } from "./reconcilable.ts";
import { type Session, TimeIsUp } from "./settings.ts";

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
 * goes away, or the signal's reason; where the time is up, what the object said last is told before that.
 */
export async function waitFor(
  ref: VersionedRef,
  isDone: (object: LiveObject) => boolean,
  session: Session,
): Promise<LiveObject> {
  let last: LiveObject | undefined;
  try {
    for await (const object of versions(ref, session)) {
      if (isDone(object)) return object;
      last = object;
    }
    throw new Error(`${ref.kind} ${ref.name} has been deleted`);
  } catch (error) {
    if (error instanceof TimeIsUp && last !== undefined) session.terminal.warning(lastWord(last));
    throw error;
  }
}

/** The object as it is and as it becomes, until it is deleted. */
async function* versions(
  { group, version, kind, namespace, name }: VersionedRef,
  { cluster, signal }: Session,
): AsyncGenerator<LiveObject> {
  const query = { group, version, kind, namespace, fieldSelector: `metadata.name=${name}` };
  for (;;) {
    try {
      for await (const event of cluster.watch(query, signal)) {
        if (event.type === "DELETED") return;
        if (event.type !== "BOOKMARK") yield event.object;
      }
    } catch (error) {
      // A watch may break off at any time; what it has missed, the next one tells first.
      if (!(error instanceof ApiError) || !canWatchAgain(error)) throw error;
    }
    await systemClock.sleep(watchAgainMs, signal);
  }
}

/** What an object says that did not get there in time. */
function lastWord(object: LiveObject): string {
  const ready = conditionOf(object, "Ready");
  const said =
    ready === undefined ? "nothing of Ready" : `Ready=${ready.status} ${ready.reason}: ${ready.message.trim()}`;
  const doing = conditionOf(object, "Reconciling");
  const phase = doing?.status === "True" && doing.message !== ready?.message ? `; ${doing.message.trim()}` : "";
  const asked = object.metadata.annotations?.[requestedAtAnnotation];
  const isHandled = asked === undefined || asked === textAt(object, "status", "lastHandledReconcileAt");
  const stale = isHandled
    ? ""
    : " (the request has not been handled yet: if that lasts, see that Sluice runs for this cluster)";
  return `${object.kind} ${object.metadata.name} last said ${said}${phase}${stale}`;
}

function canWatchAgain({ code }: ApiError): boolean {
  return code === 0 || code === 410 || code === 429 || code >= 500;
}
