import type { WorkKey } from "../core/work-key.ts";
import { changeItem } from "./change-item.ts";
import type { QueueDeps } from "./queue-deps.ts";

/**
 * For a wake-up that is not followed now, through no fault of its object: what was asked for stays asked for, and no wake-up
 * counts as under way any more, so that the next request and the next sweep send another at once.
 */
export async function setAside(key: WorkKey, deps: QueueDeps, signal: AbortSignal): Promise<void> {
  await changeItem(
    key,
    (found) => {
      const now = deps.clock.now();
      const isWaiting = found?.wakeUntil !== undefined && found.lease === undefined && found.wakeUntil > now;
      return { item: isWaiting ? { ...found, wakeUntil: now } : undefined, outcome: undefined };
    },
    deps,
    signal,
  );
}
