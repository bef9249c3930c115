import type { ReconcileRequests } from "../core/ports/reconcile-requests.ts";
import { UnreadableWorkItem } from "../core/ports/work-items.ts";
import type { WorkKey } from "../core/work-key.ts";
import { changeItem } from "./change-item.ts";
import { nameUnreadable } from "./name-unreadable.ts";
import type { QueueDeps } from "./queue-deps.ts";
import { wakeUpOf } from "./rules/on-wake-up.ts";

/**
 * Asks for a run of this object that starts after now: marks its work item first, then sends the wake-up.
 *
 * @internal Exported for its tests; others go through {@link reconcileRequests}.
 */
export async function requestReconcile(
  key: WorkKey,
  reason: string,
  deps: QueueDeps,
  signal: AbortSignal,
): Promise<void> {
  const { outcome: send } = await changeItem(
    key,
    (item, inDoubt) => {
      const decision = deps.rules.onRequest(item, key, deps.clock.now());
      // The wake-up that this item waits for may be the very one that we have yet to send.
      return { item: decision.item, outcome: decision.send || inDoubt };
    },
    deps,
    signal,
  );
  deps.log.debug("reconcile requested", { key, reason, send });
  if (send) await deps.wakeUps.send(wakeUpOf({ key }), 0, signal);
}

/** The way into the queue, as the flows and the event shells know it. */
export function reconcileRequests(deps: QueueDeps): ReconcileRequests {
  return {
    async request(key, reason, signal) {
      try {
        await requestReconcile(key, reason, deps, signal);
      } catch (error) {
        // A caller may ask for many objects: the row of one must not fail the others.
        if (!(error instanceof UnreadableWorkItem)) throw error;
        nameUnreadable([error], deps);
      }
    },
  };
}
