import { z } from "zod";
import type { WorkKey } from "../work-key.ts";

/** The longest that a message can be delayed: 15 minutes, as in SQS. */
export const maxDelayMs = 900_000;
/**
 * The longest message, in bytes of UTF-8: 256 KiB, which every queue of SQS takes, also one from before 2025 or one that was
 * limited to it (new ones take 1 MiB). Messages are sent one by one, so the limit of batches, 1 MiB in all, is never met.
 */
export const maxMessageBytes = 262_144;
/** How much of a dead letter's text is kept, in UTF-16 code units: a fault may hold what a registry or a webhook said. */
export const maxLetterChars = 10_000;

/** Of a work key's text, in characters: five names. */
export const maxKeyChars = 1_300;
/** A UUID is 36 long. */
export const maxHolderChars = 100;
const counter = z.int().min(0);

/** "Look at this object." Names it and carries no state, so that lost, doubled and late ones do no harm. */
export const WakeUp = z.strictObject({
  /** The text of a work key. */
  key: z.string().min(1).max(maxKeyChars),
  /**
   * The lease that stood in the way of the wake-up that this one takes over from, one lease's length ago. Named by its random
   * holder and not by the fence's number: who can send messages, but read none, cannot name a lease that lives. What is no
   * such name counts as none.
   */
  held: z
    .strictObject({ holder: z.string().min(1).max(maxHolderChars), renewals: counter })
    .optional()
    .catch(undefined),
  /** The item's `dueAt` that this message was delayed for: with it the queue, not the reader's clock, says that it is due. */
  dueAt: z.number().optional(),
});
export type WakeUp = z.infer<typeof WakeUp>;

/** The queue of wake-ups as its senders see it. A message may come late, more than once, in any order or not at all. */
export interface WakeUps {
  /**
   * `delayMs`: 0 to {@link maxDelayMs}, rounded up to what the queue can do. Throws a `RangeError`, before anything is sent,
   * for another delay and for a message of more than {@link maxMessageBytes}. A call that throws anything else may have sent it.
   */
  send(wakeUp: WakeUp, delayMs: number, signal: AbortSignal): Promise<void>;
}

/** An object that is not run any more because its runs do not end. */
export interface DeadLetter {
  readonly key: WorkKey;
  readonly attempts: number;
  /** The last fault, for people; without secrets. Kept to its first {@link maxLetterChars}. */
  readonly message: string;
}

/** Where somebody looks, and an alarm is set. A letter may come twice; a place may keep the newest alone. */
export interface DeadLetters {
  send(letter: DeadLetter, signal: AbortSignal): Promise<void>;
}
