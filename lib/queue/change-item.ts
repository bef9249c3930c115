import { messageOf } from "../core/failure.ts";
import { UnreadableWorkItem, type WorkItem } from "../core/ports/work-items.ts";
import type { WorkKey } from "../core/work-key.ts";
import type { QueueDeps } from "./queue-deps.ts";
import type { Instant } from "./rules.ts";

const maxConflicts = 50;
/** The longest wait between two tries of a call that has time: after an outage its answer is late by no more than this. */
const maxPauseMs = 5_000;

/** What to write, if anything, and what it means for the caller. */
export interface Change<Outcome> {
  readonly item?: WorkItem | undefined;
  readonly outcome: Outcome;
}

export interface Changed<Outcome> {
  /** The item as this call wrote it, or as it found it if there was nothing to write. */
  readonly item: WorkItem | undefined;
  readonly outcome: Outcome;
  /** The moment of the call: before any write that it made. */
  readonly since: Instant;
}

export interface ChangeOptions {
  /** The item as last read, to save the first read. */
  readonly known?: WorkItem | undefined;
  /** Until this is aborted, there is time to find out what became of a write that gave no answer. */
  readonly insistUntil?: AbortSignal | undefined;
}

/**
 * Reads an item, lets `decide` say what becomes of it, and writes that if the item is still the one that was read. Otherwise
 * it starts again. `decide` is called once per try; `inDoubt` says that an earlier write gave no answer, so that the item it
 * gets may be this call's own write. Throws after several faults, or the signal's reason.
 */
export async function changeItem<Outcome>(
  key: WorkKey,
  decide: (item: WorkItem | undefined, inDoubt: boolean) => Change<Outcome> | Promise<Change<Outcome>>,
  deps: QueueDeps,
  signal: AbortSignal,
  { known, insistUntil }: ChangeOptions = {},
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
      const wasInDoubt: boolean = inDoubt;
      // Only an answer says what became of a write.
      inDoubt = true;
      const answer = await deps.items.put(next, signal);
      inDoubt = wasInDoubt;
      if (answer === "stored") return { item: next, outcome, since };
      conflicts += 1;
    } catch (error) {
      signal.throwIfAborted();
      // Reading it again does not help.
      if (error instanceof UnreadableWorkItem) throw error;
      faults += 1;
      const hasTime = insistUntil?.aborted === false;
      if (!deps.rules.tryAgain({ faults, inDoubt, hasTime })) throw error;
      deps.log.warn("work item not reached, trying again", { key, error: messageOf(error) });
      const pause = deps.clock.sleep(Math.min(100 * 2 ** faults, maxPauseMs), hasTime ? insistUntil : signal);
      // Once the time is up, there is one last try.
      await (hasTime ? pause.catch(() => undefined) : pause);
    }
  }
  throw new Error(
    `${key.kind}/${key.namespace}/${key.name}: the work item was changed by others ${maxConflicts} times in a row`,
  );
}

export function instant({ clock }: Pick<QueueDeps, "clock">): Instant {
  return { wall: clock.now(), monotonic: clock.monotonic() };
}

/** Rows that are named at once; a rollback may leave thousands. */
const maxNamed = 20;

/** Logs which rows were skipped. They stay as they are, for a release that can read them. */
export function nameUnreadable(unreadable: readonly UnreadableWorkItem[], { log }: Pick<QueueDeps, "log">): void {
  for (const { row, message } of unreadable.slice(0, maxNamed)) {
    log.error("work item not read", { row, error: message, unreadable: unreadable.length });
  }
}
