import { mapLimit } from "../core/map-limit.ts";
import type { LeasedItems } from "../core/ports/work-items.ts";
import { changeItem } from "./change-item.ts";
import { nameUnreadable } from "./name-unreadable.ts";
import type { QueueDeps } from "./queue-deps.ts";
import { leftBehind } from "./rules/on-end.ts";
import { wakeUpOf } from "./rules/on-wake-up.ts";

/**
 * Voids every lease, and wakes what was held so that it goes on at once, one after the other. Only for a caller that knows that all earlier holders
 * are dead: the process that has just got the operating system's lock on the state folder.
 */
export async function voidLeases(deps: QueueDeps & { items: LeasedItems }, signal: AbortSignal): Promise<number> {
  const { items: held, unreadable } = await deps.items.leased(signal);
  nameUnreadable(unreadable, deps);
  await mapLimit(
    held,
    8,
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
