import { formatWorkKey } from "../work-key.ts";
import {
  type DeadLetter,
  type Look,
  maxDelayMs,
  maxLetterChars,
  maxMessageBytes,
  type SweepRequest,
  type WakeUp,
} from "./wake-ups.ts";

/** The body of the message that carries a wake-up. Throws a `RangeError` for a delay or a length that no queue takes. */
export function wakeUpBody(wakeUp: WakeUp, delayMs: number): string {
  if (delayMs >= 0 && delayMs <= maxDelayMs) return messageBody(wakeUp);
  throw new RangeError(`a wake-up can be delayed by 0 to ${maxDelayMs} ms, not ${delayMs}: store its dueAt instead`);
}

/** The body of the message that asks for the sweep of a cluster. */
export function sweepBody(cluster: string): string {
  const request: SweepRequest = { sweep: cluster };
  return messageBody(request);
}

/** The body of the message that asks for a look at an object. Throws a `RangeError` for a delay that no queue takes. */
export function lookBody(look: Look, delayMs: number): string {
  if (delayMs >= 0 && delayMs <= maxDelayMs) return messageBody({ look });
  throw new RangeError(`a look can be delayed by 0 to ${maxDelayMs} ms, not ${delayMs}`);
}

/** A dead letter as a message: the object's work key as text, the number of attempts, and the beginning of the fault. */
export function deadLetterBody({ key, attempts, message }: DeadLetter): string {
  const beginning = message.slice(0, maxLetterChars).replace(/[\uD800-\uDBFF]$/, "");
  return messageBody({ key: formatWorkKey(key), attempts, message: beginning });
}

/**
 * JSON as the body of a message that every queue takes. SQS refuses control characters, which JSON escapes anyway, and the two
 * characters that XML has no place for (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html).
 * Throws a `RangeError` if it is longer than {@link maxMessageBytes}.
 */
export function messageBody(value: unknown): string {
  const body = JSON.stringify(value).replaceAll(/[\uFFFE\uFFFF]/g, (odd) => `\\u${odd.charCodeAt(0).toString(16)}`);
  const bytes = Buffer.byteLength(body);
  if (bytes <= maxMessageBytes) return body;
  throw new RangeError(`a message of ${bytes} bytes is too long for a queue, which takes ${maxMessageBytes} at most`);
}
