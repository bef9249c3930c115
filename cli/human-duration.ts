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
