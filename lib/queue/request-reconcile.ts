import type { ReconcileHints, ReconcileRequests } from "../core/ports/reconcile-requests.ts";
import { UnreadableWorkItem } from "../core/ports/work-items.ts";
import type { WorkKey } from "../core/work-key.ts";
import { changeItem, nameUnreadable } from "./change-item.ts";
import type { RequestKind } from "./hint-rules.ts";
import type { QueueDeps } from "./queue-deps.ts";
import { wakeUpOf } from "./rules.ts";

/**
 * Asks for a run of this object that starts after now: first marks its work item, then sends the wake-up.
 *
 * @internal Exported for tests; other code goes through {@link reconcileRequests}.
 */
export async function requestReconcile(
  key: WorkKey,
  reason: string,
  deps: QueueDeps,
  signal: AbortSignal,
  kind: RequestKind = "request",
): Promise<void> {
  const { outcome } = await changeItem(
    key,
    (item, inDoubt) => {
      const decision = deps.rules.onRequest(item, key, deps.clock.now(), kind);
      // The item may be our own write, and its wake-up is then not sent yet.
      return { item: decision.item, outcome: { send: decision.send || inDoubt, delayMs: decision.delayMs } };
    },
    deps,
    signal,
  );
  const { send, delayMs } = outcome;
  deps.log.debug("reconcile requested", { key, reason, kind, send, delayMs });
  if (send) await deps.wakeUps.send(wakeUpOf({ key }), delayMs, signal);
}

/** The way into the queue for flows and functions. */
export function reconcileRequests(deps: QueueDeps): ReconcileRequests & ReconcileHints {
  const ask = async (key: WorkKey, reason: string, signal: AbortSignal, kind: RequestKind): Promise<void> => {
    try {
      await requestReconcile(key, reason, deps, signal, kind);
    } catch (error) {
      // A caller may ask for many objects: one unreadable row must not fail the others.
      if (!(error instanceof UnreadableWorkItem)) throw error;
      nameUnreadable([error], deps);
    }
  };
  return {
    request: (key, reason, signal) => ask(key, reason, signal, "request"),
    hint: (key, reason, signal) => ask(key, reason, signal, "hint"),
  };
}
