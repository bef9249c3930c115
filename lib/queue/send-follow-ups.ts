import type { WorkItem } from "../core/ports/work-items.ts";
import type { QueueDeps } from "./queue-deps.ts";

/** Sends the messages that an item without a lease needs to go on. */
export async function sendFollowUps(item: WorkItem, deps: QueueDeps, signal: AbortSignal): Promise<void> {
  for (const { wakeUp, delayMs } of deps.rules.followUps(item, deps.clock.now())) {
    await deps.wakeUps.send(wakeUp, delayMs, signal);
  }
}
