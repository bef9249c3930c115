import type { Clock } from "../../lib/core/ports/clock.ts";
import { maxDelayMs } from "../../lib/core/ports/wake-ups.ts";
import { numberColumn, textColumn } from "./columns.ts";
import type { StateDatabase } from "./state-database.ts";

/** One message in hand, as its reader sees it. */
export interface Message {
  readonly id: string;
  readonly body: string;
  /** How often it was handed out, this time included. */
  readonly receives: number;
}

/** A queue with delays and visibility, as SQS has them: a message handed out comes back unless it is removed in time. */
export interface MessageQueue {
  /** `delayMs`: 0 to {@link maxDelayMs}. */
  send(body: string, delayMs: number): void;
  /** At most `limit` messages that are visible now, the longest visible first; each is hidden for `visibilityMs`. */
  receive(limit: number, visibilityMs: number): readonly Message[];
  /** Hides the message for `visibilityMs` from now. Nothing happens where it has been handed out again or removed. */
  hide(message: Pick<Message, "id" | "receives">, visibilityMs: number): void;
  remove(id: string): void;
  /** Milliseconds until a message is visible, 0 where one is; undefined where the queue is empty. */
  nextVisibleInMs(): number | undefined;
  /** Calls `listener` after each send and hide. */
  onChange(listener: () => void): void;
}

/** The longest visibility of SQS is hours, ours is a lease's length: whatever is further off comes from a clock that jumped. */
const maxWaitMs = maxDelayMs;

/** What is left of each delay at wall time ?1. An earlier release has not written how long a message was to wait. */
const continueDelays = `
  UPDATE messages SET visible_at = ?1 + CASE
    WHEN receives > 0 THEN 0
    WHEN hidden_at IS NOT NULL THEN min(hidden_ms, max(0, hidden_at + hidden_ms - ?1))
    WHEN visible_at > ?1 + ${maxWaitMs} THEN 0
    ELSE max(0, visible_at - ?1)
  END`;

/**
 * The queue in the state file. While the process lives its monotonic clock measures every delay: by a wall clock that steps
 * forward a lease would be taken over while its holder's write is on its way.
 *
 * A process that starts has only the wall clock to know what is left of a delay, so it waits for that, and never longer than
 * the whole delay. Too early does no harm then: all leases of earlier processes are void, since this one holds the folder's
 * lock. What such a process had in hand is visible at once.
 */
export function sqliteMessageQueue({ connection, transaction }: StateDatabase, clock: Clock): MessageQueue {
  const [startedAt, origin] = [clock.now(), clock.monotonic()];
  const time = (): number => startedAt + clock.monotonic() - origin;

  const insert = connection.prepare(
    "INSERT INTO messages (body, visible_at, hidden_at, hidden_ms) VALUES (?, ?, ?, ?)",
  );
  const select = connection.prepare(
    "SELECT id, body, receives FROM messages WHERE visible_at <= ? ORDER BY visible_at, id LIMIT ?",
  );
  const hidden = "SET visible_at = ?, hidden_at = ?, hidden_ms = ?";
  const receive = connection.prepare(`UPDATE messages ${hidden}, receives = receives + 1 WHERE id = ?`);
  const hide = connection.prepare(`UPDATE messages ${hidden} WHERE id = ? AND receives = ?`);
  const remove = connection.prepare("DELETE FROM messages WHERE id = ?");
  const next = connection.prepare("SELECT visible_at FROM messages ORDER BY visible_at LIMIT 1");
  connection.prepare(continueDelays).run(startedAt);
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    send(body, delayMs) {
      insert.run(body, time() + delayMs, clock.now(), delayMs);
      changed();
    },
    receive(limit, visibilityMs) {
      const now = time();
      return transaction(() =>
        select.all(now, limit).map((row) => {
          const id = numberColumn(row, "id");
          receive.run(now + visibilityMs, clock.now(), visibilityMs, id);
          return { id: String(id), body: textColumn(row, "body"), receives: numberColumn(row, "receives") + 1 };
        }),
      );
    },
    hide({ id, receives }, visibilityMs) {
      const forMs = Math.min(visibilityMs, maxWaitMs);
      hide.run(time() + forMs, clock.now(), forMs, Number(id), receives);
      changed();
    },
    remove(id) {
      remove.run(Number(id));
    },
    nextVisibleInMs() {
      const row = next.get();
      return row === undefined ? undefined : Math.max(0, numberColumn(row, "visible_at") - time());
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
