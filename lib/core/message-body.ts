import { maxMessageBytes } from "./ports/wake-ups.ts";

/**
 * JSON as the body of a message that every queue takes. SQS refuses control characters, which JSON escapes anyway, and the two
 * characters that XML has no place for (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html).
 * Throws a `RangeError` where it is longer than {@link maxMessageBytes}.
 */
export function messageBody(value: unknown): string {
  const body = JSON.stringify(value).replaceAll(/[\uFFFE\uFFFF]/g, (odd) => `\\u${odd.charCodeAt(0).toString(16)}`);
  const bytes = Buffer.byteLength(body);
  if (bytes <= maxMessageBytes) return body;
  throw new RangeError(`a message of ${bytes} bytes is too long for a queue, which takes ${maxMessageBytes} at most`);
}
