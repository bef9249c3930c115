import { deadLetterBody } from "../../lib/core/dead-letter-body.ts";
import type { Clock } from "../../lib/core/ports/clock.ts";
import type { DeadLetters, WakeUps } from "../../lib/core/ports/wake-ups.ts";
import { wakeUpBody } from "../../lib/core/wake-up-body.ts";
import type { MessageQueue } from "./message-queue.ts";
import type { StateDatabase } from "./state-database.ts";

export function queuedWakeUps(queue: MessageQueue): WakeUps {
  return {
    async send(wakeUp, delayMs, signal) {
      signal.throwIfAborted();
      queue.send(wakeUpBody(wakeUp, delayMs), delayMs);
    },
  };
}

/** Enough for people to see what keeps happening. */
const maxDeadLetters = 1_000;

/** Dead letters in the state file, for people to look at: the newest. */
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
