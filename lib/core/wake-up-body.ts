import { messageBody } from "./message-body.ts";
import { maxDelayMs, type WakeUp } from "./ports/wake-ups.ts";

/** The message that brings a wake-up. Throws a `RangeError` for a delay or a length that no queue takes. */
export function wakeUpBody(wakeUp: WakeUp, delayMs: number): string {
  if (delayMs >= 0 && delayMs <= maxDelayMs) return messageBody(wakeUp);
  throw new RangeError(`a wake-up can be delayed by 0 to ${maxDelayMs} ms, not ${delayMs}: store its dueAt instead`);
}
