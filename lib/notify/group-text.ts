import type { Cause } from "../core/event-relation.ts";
import { subject } from "../core/object-ref.ts";

/** A message names at most so many objects. */
export const maxNamedWaiting = 200;

/** What is added to the message of the first object that waits. */
export function firstWaitingText(cause: Cause): string {
  return `It waits for ${subject(cause)}. Messages of other objects that wait for it are not sent one by one.`;
}

/** What is added to another message of the cause while objects wait for it. @param waiting at least one */
export function waitingText(waiting: readonly string[]): string {
  return `${counted(waiting, "waits", "wait")} for it:\n${listed(waiting)}`;
}

/** What is added to, or stands for, the message that the cause is ready again. @param waiting at least one */
export function waitedText(waiting: readonly string[]): string {
  return `${counted(waiting, "waited", "waited")} for it:\n${listed(waiting)}`;
}

function counted({ length }: readonly string[], one: string, several: string): string {
  return length === 1 ? `1 object ${one}` : `${length} objects ${several}`;
}

function listed(waiting: readonly string[]): string {
  const more = waiting.length - maxNamedWaiting;
  return [...waiting.slice(0, maxNamedWaiting), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
