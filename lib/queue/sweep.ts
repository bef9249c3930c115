import { mapLimit } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import type { LeasedItems, UnreadableWorkItem, WorkItem } from "../core/ports/work-items.ts";
import { changeItem, nameUnreadable } from "./change-item.ts";
import type { QueueDeps } from "./queue-deps.ts";
import { leftBehind, wakeUpOf } from "./rules.ts";
import { notRunSweeps } from "./timing.ts";

const concurrency = 8;

/** A sweep begins no further page after this time: the next one, a minute after it began, goes on. */
const maxSweepMs = 40_000;

/** How many items of one cluster a sweep wakes. */
export interface WakeBudget {
  /** In one sweep; 0: none. The others stay overdue, for a later sweep. */
  readonly atMost: number;
  /** The queue delays their wake-ups so that no more than these begin at the same time. */
  readonly perSecond: number;
}

const unlimited: WakeBudget = { atMost: Number.POSITIVE_INFINITY, perSecond: Number.POSITIVE_INFINITY };

/** What a sweep found that is not run: an object that has been woken {@link notRunSweeps} times in vain, or a row that cannot be read. */
export type NotRun = Pick<WorkItem, "key" | "woken"> | UnreadableWorkItem;

/**
 * Sends a wake-up for every item whose wake-up or due time has passed. This heals lost messages and dead handlers, and serves due
 * times that are too far away for the queue's delay. It may run late, or twice at once. Answers how many items it woke.
 *
 * One pass over all overdue objects: one that cannot be woken, or must not be, neither hides nor delays the others. It is bounded by
 * the budgets, and by time.
 *
 * @param notRun told of what no run begins with
 * @param budgetOf asked for each item's cluster again and again, so it must answer at once
 */
export async function sweep(
  deps: QueueDeps,
  signal: AbortSignal,
  budgetOf: (cluster: string) => WakeBudget = () => unlimited,
  notRun: (found: NotRun) => void = () => {},
): Promise<number> {
  const { clock, items, log } = deps;
  const begun = clock.monotonic();
  const taken = new Map<string, number>();
  const takenOf = (cluster: string): number => taken.get(cluster) ?? 0;
  const isWanted = (cluster: string): boolean => takenOf(cluster) < budgetOf(cluster).atMost;
  const unread: UnreadableWorkItem[] = [];
  let woken = 0;
  for await (const page of items.overdue(clock.now(), isWanted, signal)) {
    unread.push(...page.unreadable);
    const chosen = page.items.flatMap((item) => {
      const { cluster } = item.key;
      if (!isWanted(cluster)) return [];
      const delayMs = Math.floor(takenOf(cluster) / budgetOf(cluster).perSecond) * 1_000;
      taken.set(cluster, takenOf(cluster) + 1);
      return { item, delayMs };
    });
    const results = await mapLimit(
      chosen,
      concurrency,
      ({ item, delayMs }, stop) => wake(item, delayMs, deps, stop),
      signal,
    );
    for (const { item } of chosen) if (isNotRun(item)) notRun(item);
    woken += results.filter(Boolean).length;
    if (clock.monotonic() - begun < maxSweepMs) continue;
    log.warn("sweep stopped before its end, the next one goes on", { woken });
    break;
  }
  nameUnreadable(unread, deps);
  for (const row of unread) notRun(row);
  return woken;
}

/** A parked object waits for its input to change, and may be woken in vain. */
function isNotRun({ woken = 0, phase }: WorkItem): boolean {
  return phase === "Active" && woken >= notRunSweeps;
}

/** An error of one item must not stop the others: the item is still overdue at the next sweep. */
async function wake(item: WorkItem, delayMs: number, deps: QueueDeps, signal: AbortSignal): Promise<boolean> {
  const decision = deps.rules.onSweep(item, deps.clock.now(), delayMs);
  if (decision === undefined) return false;
  try {
    const answer = await deps.items.put({ ...decision.item, version: item.version + 1 }, signal);
    if (answer === "conflict") return false;
    await deps.wakeUps.send(decision.wakeUp, delayMs, signal);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn("overdue object not woken", { key: item.key, error: messageOf(error) });
    return false;
  }
}

/**
 * Voids every lease and wakes the objects that were held, so that they go on at once. Answers how many. Only for a caller that
 * knows that all earlier holders are dead: the process that has just got the operating system's lock on the state folder.
 */
export async function voidLeases(deps: QueueDeps & { items: LeasedItems }, signal: AbortSignal): Promise<number> {
  const { items: held, unreadable } = await deps.items.leased(signal);
  nameUnreadable(unreadable, deps);
  await mapLimit(
    held,
    concurrency,
    async ({ key }, stop) => {
      const { item } = await changeItem(
        key,
        (found) => ({
          item: found?.lease === undefined ? undefined : leftBehind(found, deps.clock.now()),
          outcome: undefined,
        }),
        deps,
        stop,
      );
      const dueAt = item?.dueAt;
      await deps.wakeUps.send(dueAt === undefined ? wakeUpOf({ key }) : { ...wakeUpOf({ key }), dueAt }, 0, stop);
    },
    signal,
  );
  return held.length;
}
