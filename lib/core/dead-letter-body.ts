import { messageBody } from "./message-body.ts";
import { type DeadLetter, maxLetterChars } from "./ports/wake-ups.ts";
import { formatWorkKey } from "./work-key.ts";

/** A dead letter as a message: whose it is, as a work key's text, how often it was tried, and the fault's beginning. */
export function deadLetterBody({ key, attempts, message }: DeadLetter): string {
  const beginning = message.slice(0, maxLetterChars).replace(/[\uD800-\uDBFF]$/, "");
  return messageBody({ key: formatWorkKey(key), attempts, message: beginning });
}
