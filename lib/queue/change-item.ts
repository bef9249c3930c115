import { messageOf } from "../core/failure.ts";
import type { WorkItem } from "../core/ports/work-items.ts";
import type { WorkKey } from "../core/work-key.ts";
import type { QueueDeps } from "./queue-deps.ts";
import type { Instant } from "./rules/may-write.ts";

const maxFaults = 5;
const maxConflicts = 50;

/** What to write, if anything, and what it means for the caller. */
export interface Change<Outcome> {
  readonly item?: WorkItem | undefined;
  readonly outcome: Outcome;
}

export interface Changed<Outcome> {
  /** The item as this call wrote it, or as it found it where there was nothing to write. */
  readonly item: WorkItem | undefined;
  readonly outcome: Outcome;
  /** The moment of the call: before any write that it made. */
  readonly since: Instant;
}

/**
 * Reads an item, lets `decide` say what becomes of it, and writes that where the item is still the one that was read;
 * else does it all again. `decide` is called once per try; `inDoubt` tells it that an earlier try to write gave no answer,
 * so that what it is given may be of this call's own making. Throws after several faults, or the signal's reason.
 * @param known the item as last seen, to spare the first read.
 */
export async function changeItem<Outcome>(
  key: WorkKey,
  decide: (item: WorkItem | undefined, inDoubt: boolean) => Change<Outcome> | Promise<Change<Outcome>>,
  deps: QueueDeps,
  signal: AbortSignal,
  known?: WorkItem,
): Promise<Changed<Outcome>> {
  let cached = known;
  const since = instant(deps);
  let inDoubt = false;
  let faults = 0;
  for (let conflicts = 0; conflicts < maxConflicts; ) {
    signal.throwIfAborted();
    try {
      const found = cached ?? (await deps.items.get(key, signal));
      const { item, outcome } = await decide(found, inDoubt);
      if (item === undefined) return { item: found, outcome, since };
      cached = undefined;
      const next = { ...item, version: (found?.version ?? 0) + 1 };
      const answer = await deps.items.put(next, signal).catch((error: unknown) => {
        // Only an answer says what became of a write.
        inDoubt = true;
        throw error;
      });
      if (answer === "stored") return { item: next, outcome, since };
      conflicts += 1;
    } catch (error) {
      signal.throwIfAborted();
      faults += 1;
      if (faults >= maxFaults) throw error;
      deps.log.warn("work item not reached, trying again", { key, error: messageOf(error) });
      await deps.clock.sleep(100 * 2 ** faults, signal);
    }
  }
  throw new Error(
    `${key.kind}/${key.namespace}/${key.name}: the work item was changed by others ${maxConflicts} times in a row`,
  );
}

export function instant({ clock }: Pick<QueueDeps, "clock">): Instant {
  return { wall: clock.now(), monotonic: clock.monotonic() };
}
