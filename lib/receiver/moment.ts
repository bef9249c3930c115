import type { Clock } from "../core/ports/clock.ts";

/** By both clocks: the wall clock may be set back, and the other one stops while a Lambda is frozen. */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export type BothClocks = Pick<Clock, "now" | "monotonic">;

export function momentOf(clock: BothClocks): Moment {
  return { wall: clock.now(), monotonic: clock.monotonic() };
}

/** Milliseconds, by the clock that went further. */
export function ageOf({ wall, monotonic }: Moment, clock: BothClocks): number {
  return Math.max(clock.now() - wall, clock.monotonic() - monotonic);
}
