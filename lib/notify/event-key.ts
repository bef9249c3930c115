import { createHash } from "node:crypto";
import { ownPrefix } from "./metadata-keys.ts";
import type { NotificationEvent } from "./notification-event.ts";

/**
 * The key by which two events are the same to Flux's limit, 64 hexadecimal digits (reference notifications 12). Severity, reason, time and
 * other metadata are no part of it.
 *
 * @param event as its emitter wrote it, the token included
 */
export function eventKey({ involvedObject, message, metadata = {} }: NotificationEvent): string {
  const { name, namespace, kind } = involvedObject;
  const prefix = ownPrefix(involvedObject);
  const parts = ["originRevision", "revision", "token"].flatMap((key) => {
    const value = metadata[`${prefix}${key}`];
    return value === undefined ? [] : [`${key}=${value}`];
  });
  const text = ["event", `name=${name}`, `namespace=${namespace}`, `kind=${kind}`, `message=${message}`, ...parts];
  return createHash("sha256").update(text.join("/")).digest("hex");
}
