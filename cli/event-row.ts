import type { LiveObject } from "../lib/core/manifest.ts";
import { textAt, valueAt } from "./objects/read-object.ts";

/** When an event was last seen, in milliseconds since 1970; 0 if it has no time. */
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

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A duration in at most two units, as kubectl prints ages. */
export function humanDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return two(seconds, minute, "m", 1, "s");
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return two(seconds, hour, "h", minute, "m");
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return two(seconds, day, "d", hour, "h");
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return two(seconds, year, "y", day, "d");
  return `${Math.floor(seconds / year)}y`;
}

function two(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)}${largeName}${rest === 0 ? "" : `${rest}${smallName}`}`;
}
