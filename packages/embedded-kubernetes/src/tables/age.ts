import type { ApiObject } from "../core/api-object.ts";
import { metadataText } from "./table.ts";

const minute = 60;
const hour = 3600;
const day = 86_400;
const year = 365 * day;

/** How long ago, in at most two units, as kubectl shows it: `42s`, `5m3s`, `3d4h`, `2y30d`. */
export function durationText(seconds: number): string {
  if (seconds < -1) return "<invalid>";
  const whole = Math.max(Math.floor(seconds), 0);
  if (whole < 2 * minute) return `${whole}s`;
  const minutes = Math.floor(whole / minute);
  if (minutes < 10) return two(minutes, "m", whole % minute, "s");
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(whole / hour);
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(whole / day);
  if (hours < 192) return two(days, "d", hours % 24, "h");
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(whole / year);
  return years < 8 ? two(years, "y", days % 365, "d") : `${years}y`;
}

function two(first: number, firstUnit: string, second: number, secondUnit: string): string {
  return second === 0 ? `${first}${firstUnit}` : `${first}${firstUnit}${second}${secondUnit}`;
}

export function ageSince(timestamp: string, now: Date): string {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? "<unknown>" : durationText((now.getTime() - time) / 1000);
}

export function ageOf(object: ApiObject, now: Date): string {
  return ageSince(metadataText(object, "creationTimestamp"), now);
}
