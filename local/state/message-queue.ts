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

/**
 * The queue in the state file. What a process that has ended had in hand is visible at once: this one holds the folder's
 * lock, so that process is gone.
 */
export function sqliteMessageQueue({ connection, transaction }: StateDatabase, clock: Clock): MessageQueue {
  const insert = connection.prepare("INSERT INTO messages (body, visible_at) VALUES (?, ?)");
  const select = connection.prepare(
    `SELECT id, body, receives FROM messages WHERE visible_at <= ?1 OR visible_at > ?1 + ${maxWaitMs}
     ORDER BY visible_at, id LIMIT ?2`,
  );
  const receive = connection.prepare("UPDATE messages SET visible_at = ?, receives = receives + 1 WHERE id = ?");
  const hide = connection.prepare("UPDATE messages SET visible_at = ? WHERE id = ? AND receives = ?");
  const remove = connection.prepare("DELETE FROM messages WHERE id = ?");
  const next = connection.prepare("SELECT visible_at FROM messages ORDER BY visible_at LIMIT 1");
  const far = connection.prepare("SELECT 1 FROM messages WHERE visible_at > ? LIMIT 1");
  connection.prepare("UPDATE messages SET visible_at = ? WHERE receives > 0").run(clock.now());
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    send(body, delayMs) {
      insert.run(body, clock.now() + delayMs);
      changed();
    },
    receive(limit, visibilityMs) {
      const now = clock.now();
      return transaction(() =>
        select.all(now, limit).map((row) => {
          const id = numberColumn(row, "id");
          receive.run(now + visibilityMs, id);
          return { id: String(id), body: textColumn(row, "body"), receives: numberColumn(row, "receives") + 1 };
        }),
      );
    },
    hide({ id, receives }, visibilityMs) {
      hide.run(clock.now() + Math.min(visibilityMs, maxWaitMs), Number(id), receives);
      changed();
    },
    remove(id) {
      remove.run(Number(id));
    },
    nextVisibleInMs() {
      const now = clock.now();
      const row = next.get();
      if (row === undefined) return undefined;
      return far.get(now + maxWaitMs) === undefined ? Math.max(0, numberColumn(row, "visible_at") - now) : 0;
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
