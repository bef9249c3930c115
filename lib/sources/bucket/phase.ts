import type { Clock } from "../../core/ports/clock.ts";

/** A part of a run whose requests have one time limit together. */
export interface Phase {
  readonly signal: AbortSignal;
  /** Milliseconds until the limit; 0 or less once it is over. */
  readonly leftMs: () => number;
}

/** Begins now. */
export function phaseOf(timeoutMs: number, clock: Pick<Clock, "monotonic">, signal: AbortSignal): Phase {
  const end = clock.monotonic() + timeoutMs;
  return { signal, leftMs: () => end - clock.monotonic() };
}
