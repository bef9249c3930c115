import { messageOf } from "../core/failure.ts";
import { mapLimit } from "../core/map-limit.ts";
import type { WorkItem } from "../core/ports/work-items.ts";
import { nameUnreadable } from "./name-unreadable.ts";
import type { QueueDeps } from "./queue-deps.ts";

const pageSize = 100;
const concurrency = 8;

/**
 * Sends again for every item whose wake-up or due time has passed: what lost messages, dead handlers and due times too
 * far away for the queue's delay are healed by. May run late, twice or twice at once. Answers how many it woke.
 */
export async function sweep(deps: QueueDeps, signal: AbortSignal): Promise<number> {
  let woken = 0;
  let isFirstPage = true;
  for (;;) {
    const { items: page, unreadable } = await deps.items.overdue(deps.clock.now(), pageSize, signal);
    // They stay overdue, so each page of the same sweep has them.
    if (isFirstPage) nameUnreadable(unreadable, deps);
    isFirstPage = false;
    const results = await mapLimit(page, concurrency, (item, stop) => wake(item, deps, stop), signal);
    const moved = results.filter(Boolean).length;
    woken += moved;
    // A page of nothing but refusals would come again: they are others' by now, or the index lags behind.
    if (page.length < pageSize || moved === 0) return woken;
  }
}

/** One item's trouble must not keep the others asleep: it is overdue still at the next sweep. */
async function wake(item: WorkItem, deps: QueueDeps, signal: AbortSignal): Promise<boolean> {
  const decision = deps.rules.onSweep(item, deps.clock.now());
  if (decision === undefined) return false;
  try {
    const answer = await deps.items.put({ ...decision.item, version: item.version + 1 }, signal);
    if (answer === "conflict") return false;
    await deps.wakeUps.send(decision.wakeUp, 0, signal);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn("overdue object not woken", { key: item.key, error: messageOf(error) });
    return false;
  }
}
