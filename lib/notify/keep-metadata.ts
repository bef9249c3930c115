import { ownPrefix, userPrefix } from "./metadata-keys.ts";
import type { NotificationEvent } from "./notification-event.ts";

/**
 * The event with the metadata that Alerts may send (reference notifications 12): of the object's own API group and of users, without
 * checksum, digest and the token, which only tells events apart.
 */
export function keepMetadata(event: NotificationEvent): NotificationEvent {
  const { metadata = {}, ...rest } = event;
  const prefix = ownPrefix(event.involvedObject);
  const left = new Set(["checksum", "digest"].map((key) => `${prefix}${key}`.toLowerCase()));
  const kept = Object.entries(metadata).filter(
    ([key]) =>
      (key.startsWith(userPrefix) || key.startsWith(prefix)) &&
      !left.has(key.toLowerCase()) &&
      key !== `${prefix}token`,
  );
  return kept.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(kept) };
}
