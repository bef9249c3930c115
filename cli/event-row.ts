import type { LiveObject } from "../lib/core/manifest.ts";
import { humanDuration } from "./human-duration.ts";
import { textAt, valueAt } from "./reconcilable.ts";

/** When an event was last seen, in milliseconds since 1970; 0 where it does not say. */
export function eventTime(event: LiveObject): number {
  return (
    timeAt(event, "series", "lastObservedTime") ?? timeAt(event, "lastTimestamp") ?? timeAt(event, "eventTime") ?? 0
  );
}

/** A row of the events table, with `(xN over <time>)` for events that were seen more than once. */
export function eventRow(event: LiveObject, showNamespace: boolean, now: number): readonly string[] {
  const { namespace = "" } = event.metadata;
  return [
    ...(showNamespace ? [namespace] : []),
    lastSeen(event, now),
    textAt(event, "type"),
    textAt(event, "reason"),
    `${textAt(event, "involvedObject", "kind")}/${textAt(event, "involvedObject", "name")}`,
    textAt(event, "message"),
  ];
}

function lastSeen(event: LiveObject, now: number): string {
  const ago = (time: number | undefined) => (time === undefined ? "<unknown>" : humanDuration(now - time));
  const first = ago(timeAt(event, "eventTime") ?? timeAt(event, "firstTimestamp"));
  const series = numberAt(event, "series", "count");
  if (series !== undefined) return `${ago(timeAt(event, "series", "lastObservedTime"))} (x${series} over ${first})`;
  const count = numberAt(event, "count") ?? 1;
  return count > 1 ? `${ago(timeAt(event, "lastTimestamp"))} (x${count} over ${first})` : first;
}

function timeAt(event: LiveObject, ...path: readonly string[]): number | undefined {
  const time = Date.parse(textAt(event, ...path));
  return Number.isNaN(time) ? undefined : time;
}

function numberAt(event: LiveObject, ...path: readonly string[]): number | undefined {
  const value = valueAt(event, ...path);
  return typeof value === "number" ? value : undefined;
}
