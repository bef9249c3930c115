import { z } from "zod";
import { cutText } from "../core/cut-text.ts";
import { digestOf } from "../core/digest.ts";
import { messageBody } from "../core/ports/message-body.ts";
import { maxMessageBytes } from "../core/ports/wake-ups.ts";
import type { Notification } from "./notification.ts";

const Text = z.string();
const Named = z.object({ namespace: Text, name: Text });

/** A `NotificationEvent`, as it travels. */
export const EventShape = z.object({
  involvedObject: z.object({
    kind: Text,
    namespace: Text,
    name: Text,
    uid: Text.exactOptional(),
    apiVersion: Text.exactOptional(),
    resourceVersion: Text.exactOptional(),
  }),
  severity: Text,
  timestamp: Text,
  message: Text,
  reason: Text,
  metadata: z.record(Text, Text).exactOptional(),
  reportingController: Text,
  reportingInstance: Text.exactOptional(),
});

/** What travels in the queue of notifications. */
export const NotificationMessage: z.ZodType<Notification> = z.object({
  cluster: Text,
  alert: Named,
  provider: Named,
  eventKey: Text,
  event: EventShape,
});

/**
 * The body of a message. If it is longer than a queue accepts, the event's `message` is cut. Throws a `RangeError` if it is too long
 * even without it.
 */
export function notificationBody(message: Notification): string {
  const full = JSON.stringify(message);
  const over = Buffer.byteLength(full) - (maxMessageBytes - spareBytes);
  if (over <= 0) return messageBody(message);
  const { event } = message;
  const length = Buffer.byteLength(event.message);
  // A byte of the text is one of JSON or more, up to six.
  for (let bytes = Math.max(length - over, Math.floor(length / 2)); bytes > cutMark; bytes = Math.floor(bytes / 2)) {
    const cut = { ...message, event: { ...event, message: cutText(event.message, bytes) } };
    if (Buffer.byteLength(JSON.stringify(cut)) <= maxMessageBytes - spareBytes) return messageBody(cut);
  }
  return messageBody({ ...message, event: { ...event, message: "" } });
}

/** Two characters take more bytes in the body of a message than in JSON. */
const spareBytes = 4_096;
/** The length of `...`, the end of a cut text. */
const cutMark = 3;

/** The messages of a group arrive in the order in which they were sent: those of one object for one Provider. */
export function notificationGroup({ cluster, event, provider }: Notification): string {
  const { kind, namespace, name } = event.involvedObject;
  return hexOf([cluster, kind, namespace, name, provider.namespace, provider.name]);
}

/**
 * A queue keeps the first of two messages with the same id, for five minutes. The time of the event is a part of it: the same event
 * is told again after five minutes by the clock of the emitter, which is not that of the queue.
 */
export function notificationId({ cluster, alert, event, eventKey, provider }: Notification): string {
  return hexOf([cluster, alert.namespace, alert.name, provider.name, eventKey, event.timestamp]);
}

function hexOf(parts: readonly string[]): string {
  return digestOf(JSON.stringify(parts)).slice("sha256:".length);
}
