import { z } from "zod";
import { ClusterId, type WorkKey } from "../work-key.ts";

/** The longest that a message can be delayed: 15 minutes, as in SQS. */
export const maxDelayMs = 900_000;
/**
 * The longest message, in bytes of UTF-8: 256 KiB, which every queue of SQS takes, also one from before 2025 or one that was
 * limited to it (new ones take 1 MiB). Messages are sent one by one, so the limit of batches, 1 MiB in all, is never met.
 */
export const maxMessageBytes = 262_144;
/** The limit for a dead letter's text, in UTF-16 code units: a fault may quote a registry or a webhook. */
export const maxLetterChars = 10_000;

/** The longest text of a work key, in characters: five names. */
export const maxKeyChars = 1_300;
/** A UUID is 36 long. */
export const maxHolderChars = 100;
const counter = z.int().min(0);

/** "Look at this object." A wake-up names the object and carries no state, so lost, doubled and late ones do no harm. */
export const WakeUp = z.strictObject({
  /** The text of a work key. */
  key: z.string().min(1).max(maxKeyChars),
  /**
   * The lease that an earlier wake-up found held, one lease's length ago. It is named by its random holder and not by the fence's
   * number: a sender who cannot read messages cannot name a live lease. A malformed value counts as absent.
   */
  held: z
    .strictObject({ holder: z.string().min(1).max(maxHolderChars), renewals: counter })
    .optional()
    .catch(undefined),
  /** The item's `dueAt` for which this message was delayed: the queue's delay decides that it is due, not the reader's clock. */
  dueAt: z.number().optional(),
});
export type WakeUp = z.infer<typeof WakeUp>;

/** The queue of wake-ups as its senders see it. A message may come late, more than once, in any order or not at all. */
export interface WakeUps {
  /**
   * `delayMs`: 0 to {@link maxDelayMs}, rounded up to the queue's precision. Throws a `RangeError`, before anything is sent, for
   * another delay and for a message of more than {@link maxMessageBytes}. A call that throws anything else may have sent it.
   */
  send(wakeUp: WakeUp, delayMs: number, signal: AbortSignal): Promise<void>;
}

/** "Look what is in this cluster." Like a wake-up it carries no state, and travels in the same queue. */
export const SweepRequest = z.strictObject({ sweep: ClusterId });
export type SweepRequest = z.infer<typeof SweepRequest>;

/** The queue of wake-ups as the schedule sees it. */
export interface SweepRequests {
  /** A call that throws may have sent it. */
  send(cluster: string, signal: AbortSignal): Promise<void>;
}

/** After this time an object with an announced change is read, and after the same time once again if the change does not show yet. */
export const lookDelaysMs = [1_000, 4_000] as const satisfies readonly number[];
/** A uid is 36 long, a resourceVersion a number of 64 bits. */
export const maxVersionChars = 100;

/** "This object is about to change: look at it." Nothing of the change travels, so lost, doubled and late ones do no harm. */
export const LookRequest = z.strictObject({
  look: z.strictObject({
    /** The text of a work key, of an object of our kinds or of a ConfigMap or Secret. */
    key: z.string().min(1).max(maxKeyChars),
    /** The object before the change; absent if it is about to be created. */
    before: z
      .strictObject({ uid: z.string().max(maxVersionChars), resourceVersion: z.string().max(maxVersionChars) })
      .optional(),
    /** How often it was looked at before. */
    tries: z.int().min(0).max(lookDelaysMs.length),
  }),
});
export type Look = z.infer<typeof LookRequest>["look"];

/** The queue of wake-ups as the admission webhook sees it. */
export interface LookRequests {
  /** `delayMs`: 0 to {@link maxDelayMs}. A call that throws may have sent it. */
  send(look: Look, delayMs: number, signal: AbortSignal): Promise<void>;
}

/** An object that no longer runs because its runs do not end. */
export interface DeadLetter {
  readonly key: WorkKey;
  readonly attempts: number;
  /** The last fault, for people; without secrets. Kept to its first {@link maxLetterChars}. */
  readonly message: string;
}

/** Dead letters for an operator, with an alarm on them. A letter may come twice; an adapter may keep only the newest. */
export interface DeadLetters {
  send(letter: DeadLetter, signal: AbortSignal): Promise<void>;
}
