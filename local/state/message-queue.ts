import type { Clock } from "../../lib/core/ports/clock.ts";
import { deadLetterBody, lookBody, sweepBody, wakeUpBody } from "../../lib/core/ports/message-body.ts";
import {
  type DeadLetters,
  type LookRequests,
  maxDelayMs,
  type SweepRequests,
  type WakeUps,
} from "../../lib/core/ports/wake-ups.ts";
import { clusterOfText } from "../../lib/core/work-key.ts";
import { numberColumn, type StateDatabase, textColumn } from "./state-database.ts";

/** A received message. */
export interface Message {
  readonly id: string;
  readonly body: string;
  /** How often it was received, this time included. */
  readonly receives: number;
}

/**
 * A queue with delays and visibility like SQS: a received message comes back unless it is removed in time. Each message is of a group,
 * so that its reader can take as many as it has places for of one group and leave those of another.
 */
export interface MessageQueue {
  /** `delayMs`: 0 to {@link maxDelayMs}. */
  send(body: string, delayMs: number, group?: string): void;
  /** The groups of all messages, visible or not. */
  groups(): readonly string[];
  /** Receives at most `limit` visible messages, the longest visible first, and hides each for `visibilityMs`; of any group by default. */
  receive(limit: number, visibilityMs: number, group?: string): readonly Message[];
  /** Hides the message for `visibilityMs` from now. Does nothing if it was received again or removed. */
  hide(message: Pick<Message, "id" | "receives">, visibilityMs: number): void;
  remove(id: string): void;
  /** Milliseconds until a message is visible, 0 if one is; undefined if there is none. */
  nextVisibleInMs(group?: string): number | undefined;
  /** Calls `listener` after each send and hide. */
  onChange(listener: () => void): void;
}

/** We hide messages for the length of a lease: a longer wait comes from a clock that jumped. */
const maxWaitMs = maxDelayMs;

/** The rest of each delay at wall time ?1. Earlier releases did not write how long a message had to wait. */
const continueDelays = `
  UPDATE messages SET visible_at = ?1 + CASE
    WHEN receives > 0 THEN 0
    WHEN hidden_at IS NOT NULL THEN min(hidden_ms, max(0, hidden_at + hidden_ms - ?1))
    WHEN visible_at > ?1 + ${maxWaitMs} THEN 0
    ELSE max(0, visible_at - ?1)
  END`;

/**
 * The queue in the state file. While the process lives, its monotonic clock measures every delay: if a wall clock stepped forward, a
 * lease would be taken over while its holder's write is under way.
 *
 * A process that starts has only the wall clock to compute the rest of a delay. It waits for that rest, and never longer than the
 * whole delay. A message that comes too early does no harm: this process holds the folder's lock, so all leases of earlier processes
 * are void. The messages that such a process had received are visible at once.
 */
export function sqliteMessageQueue({ connection, transaction }: StateDatabase, clock: Clock): MessageQueue {
  const [startedAt, origin] = [clock.now(), clock.monotonic()];
  const time = (): number => startedAt + clock.monotonic() - origin;

  const insert = connection.prepare(
    "INSERT INTO messages (body, visible_at, hidden_at, hidden_ms, message_group) VALUES (?, ?, ?, ?, ?)",
  );
  const groups = messagesByGroup(connection);
  const select = connection.prepare(
    `SELECT id, body, receives FROM messages
      WHERE visible_at <= ?1 AND (?2 IS NULL OR message_group = ?2) ORDER BY visible_at, id LIMIT ?3`,
  );
  const hidden = "SET visible_at = ?, hidden_at = ?, hidden_ms = ?";
  const receive = connection.prepare(`UPDATE messages ${hidden}, receives = receives + 1 WHERE id = ?`);
  const hide = connection.prepare(`UPDATE messages ${hidden} WHERE id = ? AND receives = ?`);
  const remove = connection.prepare("DELETE FROM messages WHERE id = ?");
  const next = connection.prepare(
    "SELECT visible_at FROM messages WHERE ?1 IS NULL OR message_group = ?1 ORDER BY visible_at LIMIT 1",
  );
  connection.prepare(continueDelays).run(startedAt);
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    send(body, delayMs, group = "") {
      const { lastInsertRowid } = insert.run(body, time() + delayMs, clock.now(), delayMs, group);
      groups.add(Number(lastInsertRowid), group);
      changed();
    },
    groups: () => groups.all(),
    receive(limit, visibilityMs, group) {
      const now = time();
      return transaction(() =>
        select.all(now, group ?? null, limit).map((row) => {
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
      groups.remove(Number(id));
    },
    nextVisibleInMs(group) {
      const row = next.get(group ?? null);
      return row === undefined ? undefined : Math.max(0, numberColumn(row, "visible_at") - time());
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}

/** The groups that have messages. Kept in memory, since this process alone writes messages, and the feeder asks several times for each. */
function messagesByGroup(connection: StateDatabase["connection"]) {
  const groupOf = new Map<number, string>();
  const counts = new Map<string, number>();
  const count = (group: string, change: 1 | -1): void => {
    const after = (counts.get(group) ?? 0) + change;
    if (after === 0) counts.delete(group);
    else counts.set(group, after);
  };
  const add = (id: number, group: string): void => {
    groupOf.set(id, group);
    count(group, 1);
  };
  for (const row of connection.prepare("SELECT id, message_group FROM messages").all()) {
    add(numberColumn(row, "id"), textColumn(row, "message_group"));
  }
  return {
    add,
    remove(id: number): void {
      const group = groupOf.get(id);
      if (group !== undefined && groupOf.delete(id)) count(group, -1);
    },
    all: (): readonly string[] => [...counts.keys()],
  };
}

/** The wake-ups of a cluster are a group. */
export function queuedWakeUps(queue: MessageQueue): WakeUps {
  return {
    async send(wakeUp, delayMs, signal) {
      signal.throwIfAborted();
      queue.send(wakeUpBody(wakeUp, delayMs), delayMs, clusterOfText(wakeUp.key));
    },
  };
}

/** Sweeps are of the group of their cluster's wake-ups. */
export function queuedSweepRequests(queue: MessageQueue): SweepRequests {
  return {
    async send(cluster, signal) {
      signal.throwIfAborted();
      queue.send(sweepBody(cluster), 0, cluster);
    },
  };
}

/** Looks at objects are of the group of their cluster's wake-ups. */
export function queuedLookRequests(queue: MessageQueue): LookRequests {
  return {
    async send(look, delayMs, signal) {
      signal.throwIfAborted();
      queue.send(lookBody(look, delayMs), delayMs, clusterOfText(look.key));
    },
  };
}

/** Enough to see what keeps happening. */
const maxDeadLetters = 1_000;

/** The newest dead letters, in the state file, for people to look at. */
export function sqliteDeadLetters({ connection }: StateDatabase, clock: Clock): DeadLetters {
  const insert = connection.prepare("INSERT INTO dead_letters (at, letter) VALUES (?, ?)");
  const trim = connection.prepare("DELETE FROM dead_letters WHERE id <= (SELECT max(id) FROM dead_letters) - ?");
  return {
    async send(letter, signal) {
      signal.throwIfAborted();
      insert.run(clock.now(), deadLetterBody(letter));
      trim.run(maxDeadLetters);
    },
  };
}
