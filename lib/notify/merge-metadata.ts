import type { AlertSpec } from "../api/alert.ts";
import { ownPrefix, userPrefix } from "./metadata-keys.ts";
import type { NotificationEvent } from "./notification-event.ts";

/** The metadata that a Provider gets, and the keys that several sources set. */
export interface MergedEvent {
  /** Its metadata has no prefixes. */
  readonly event: NotificationEvent;
  /** Each such key with the names of its sources, as Flux's event on the Alert has them. Equal values are a conflict too. */
  readonly conflicts: Readonly<Record<string, string>>;
}

/**
 * Merges the metadata of an event with that of an Alert (reference notifications 13). If several sources have a key, the last one
 * counts: users' annotations of the object, `spec.eventMetadata`, `spec.summary`, the emitter.
 */
export function mergeMetadata(
  event: NotificationEvent,
  { eventMetadata = {}, summary = "" }: Pick<AlertSpec, "eventMetadata" | "summary">,
): MergedEvent {
  if (event.metadata === undefined && summary === "" && Object.keys(eventMetadata).length === 0) {
    return { event, conflicts: {} };
  }
  const { metadata = {}, ...rest } = event;
  const sources: readonly (readonly [name: string, entries: readonly (readonly [string, string])[]])[] = [
    ["involved object annotations", withoutPrefix(metadata, userPrefix)],
    ["Alert object .spec.eventMetadata", Object.entries(eventMetadata)],
    ["Alert object .spec.summary", summary === "" ? [] : [["summary", summary]]],
    ["involved object controller metadata", withoutPrefix(metadata, ownPrefix(event.involvedObject))],
  ];
  const merged = new Map<string, string>();
  const givenBy = new Map<string, readonly string[]>();
  for (const [name, entries] of sources) {
    for (const [key, value] of entries) {
      merged.set(key, value);
      givenBy.set(key, [...(givenBy.get(key) ?? []), name]);
    }
  }
  const conflicts = [...givenBy].filter(([, names]) => names.length > 1);
  return {
    event: merged.size === 0 ? rest : { ...rest, metadata: Object.fromEntries(merged) },
    conflicts: Object.fromEntries(conflicts.map(([key, names]) => [key, names.join(", ")])),
  };
}

function withoutPrefix(metadata: Readonly<Record<string, string>>, prefix: string): readonly [string, string][] {
  return Object.entries(metadata).flatMap(([key, value]) =>
    key.startsWith(prefix) ? [[key.slice(prefix.length), value] as [string, string]] : [],
  );
}
