import { requestedAtAnnotation } from "../lib/api/names.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { VersionedRef } from "../lib/core/object-ref.ts";
import { type ConditionText, conditionOf, textAt, valueAt } from "./objects/read-object.ts";
import { type Session, TimeIsUp } from "./session.ts";
import { watchAgain } from "./watch-again.ts";

/** The progress of an object, as flux reads it. Ready=False alone is "in progress": the object is reconciled again. */
export type Progress =
  | { readonly kind: "current" }
  | { readonly kind: "in progress" }
  | { readonly kind: "failed"; readonly message: string };

export function progressOf(object: LiveObject): Progress {
  const { generation, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return { kind: "failed", message: "the object is being deleted" };
  const observed = valueAt(object, "status", "observedGeneration");
  const stalled = conditionOf(object, "Stalled");
  // Some stalls leave observedGeneration behind; a condition of the present generation is final all the same.
  const isOfNow = [observed ?? generation, stalled?.observedGeneration].includes(generation);
  const ready = conditionOf(object, "Ready");
  if (stalled?.status === "True" && isOfNow) return { kind: "failed", message: whyStalled(stalled.message, ready) };
  if (observed !== undefined && observed !== generation) return { kind: "in progress" };
  if (conditionOf(object, "Reconciling")?.status === "True") return { kind: "in progress" };
  return ready === undefined || ready.status === "True" ? { kind: "current" } : { kind: "in progress" };
}

/** For a release without retries left, Stalled says how often it was tried, and only Ready says why it failed. */
function whyStalled(message: string, ready: ConditionText | undefined): string {
  const why = ready?.status === "False" ? ready.message.trim() : "";
  return why === "" || why === message.trim() ? message : `${message}: ${why}`;
}

/** Reasons of a Ready=False that says what the object waits for, or that its next run begins at once. */
const goesOn: readonly string[] = ["DependencyNotReady", "HealthCheckCanceled", "SourceNotReady"];

/**
 * Why the last run has failed, for one of the present generation that has ended; undefined while the outcome is open. The object is
 * tried again after its retry interval: flux waits for that until its time is up.
 */
export function failureOf(object: LiveObject): string | undefined {
  const ready = conditionOf(object, "Ready");
  const doing = conditionOf(object, "Reconciling");
  const isRunning = doing?.status === "True" && doing.reason !== "ProgressingWithRetry";
  if (ready?.status !== "False" || isRunning || goesOn.includes(ready.reason)) return undefined;
  const { generation } = object.metadata;
  return (ready.observedGeneration ?? generation) === generation ? ready.message.trim() : undefined;
}

/**
 * Watches an object until `isDone` holds for it, and answers it. Throws what `isDone` throws, an error if the object is
 * deleted, or the signal's reason; if the time is up, it first prints the object's last status.
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

/** The present version of the object and all later ones, until it is deleted. */
async function* versions(
  { group, version, kind, namespace, name }: VersionedRef,
  session: Session,
): AsyncGenerator<LiveObject> {
  const query = { group, version, kind, namespace, fieldSelector: `metadata.name=${name}` };
  for await (const event of watchAgain(query, session)) {
    if (event.type === "DELETED") return;
    if (event.type !== "BOOKMARK") yield event.object;
  }
}

/** The last status of an object that was not done in time. */
function lastWord(object: LiveObject): string {
  const ready = conditionOf(object, "Ready");
  const said =
    ready === undefined ? "nothing about Ready" : `Ready=${ready.status} ${ready.reason}: ${ready.message.trim()}`;
  const doing = conditionOf(object, "Reconciling");
  const phase = doing?.status === "True" && doing.message !== ready?.message ? `; ${doing.message.trim()}` : "";
  const asked = object.metadata.annotations?.[requestedAtAnnotation];
  const isHandled = asked === undefined || asked === textAt(object, "status", "lastHandledReconcileAt");
  const stale = isHandled
    ? ""
    : " (the request has not been handled yet; if this does not change, check that Sluice runs for this cluster)";
  return `${object.kind} ${object.metadata.name} last said ${said}${phase}${stale}`;
}
