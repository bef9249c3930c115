/**
 * Which events are the first of their key for a while, as Flux's limit of events has it: windows of a fixed length that begin with the
 * first event of the key. Times are wall time, milliseconds since 1970; the clocks of several processes differ by far less than a window.
 */
export interface EventWindows {
  /** Whether an event of this key in a cluster, at `now`, falls into a window that is taken. Takes none. */
  covers(cluster: string, key: string, now: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Whether an event of this key in a cluster, at `now`, is the first of its window; if so the window is taken. Only one of several
   * concurrent callers is the first.
   *
   * @param key 64 hexadecimal digits
   */
  take(cluster: string, key: string, now: number, signal: AbortSignal): Promise<boolean>;
}

/** The length of a window: Flux's flag `rate-limit-interval` by default. */
export const windowMs = 300_000;

/** After this time without a new window a key is forgotten: its next event begins a window of its own. */
export const forgottenMs = 2 * windowMs;

/** When the window of an event at `now` begins; undefined while the last window of its key lasts. Pure. */
export function nextWindow(last: number | undefined, now: number): number | undefined {
  if (last === undefined || now < last || now - last >= forgottenMs) return now;
  return now - last < windowMs ? undefined : last + windowMs;
}
