import { leaseMs, marginMs } from "../timing.ts";

/** One moment by both clocks of a machine, in milliseconds. */
export interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * Whether a holder may still write to the cluster. `renewed` is the moment before its last successful renewal was sent.
 * The clock that says more counts: the wall clock may have been set back, the monotonic one may have stood still while
 * the machine was frozen.
 */
export function mayWrite(renewed: Instant, now: Instant): boolean {
  const elapsedMs = Math.max(now.wall - renewed.wall, now.monotonic - renewed.monotonic);
  return elapsedMs < leaseMs - marginMs;
}
