/** Time as the core sees it: two clocks, since a wall clock may jump and a monotonic one stops while a Lambda is frozen. */
export interface Clock {
  /** Wall time, milliseconds since 1970. Never compared between machines. */
  now(): number;
  /** Milliseconds since some fixed moment; never goes back. */
  monotonic(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
