import type { WorkItem } from "../core/ports/work-items.ts";
import { burstMs, hintGapMs } from "./timing.ts";

/**
 * The rules by which a burst of hints becomes one or two runs (docs/maintainers/adr/0049-a-burst-of-hints-is-two-runs.md), as pure functions. Hints
 * come from outside, in any number. Other requests come from runs, from people and from changed resources, and never wait.
 */
export type RequestKind = "request" | "hint";

type Hints = Pick<WorkItem, "hinted" | "hintedAt">;

/** How long a hint waits that finds no run under way: almost never. */
export function idleHintWaitMs({ hintedAt }: Hints, now: number): number {
  return restMs(hintedAt, hintGapMs, now);
}

/** How long the requests that came during a run wait at its end. Hints that meet the run of another hint are a burst. */
export function followUpWaitMs({ hinted, hintedAt }: Hints, now: number): number {
  return hinted === true ? restMs(hintedAt, burstMs, now) : 0;
}

/** The hints after a run has begun: it takes the waiting ones. */
export function hintsTaken({ hinted, hintedAt }: Hints, now: number): Hints {
  return { hinted: undefined, hintedAt: hinted === true ? now : hintedAt };
}

export function hintedIf(hinted: boolean): Pick<WorkItem, "hinted"> {
  return { hinted: hinted ? true : undefined };
}

/** None if the clocks of two machines differ by more than the window: then hints are served at once. */
function restMs(hintedAt: number | undefined, windowMs: number, now: number): number {
  const elapsedMs = hintedAt === undefined ? windowMs : now - hintedAt;
  return elapsedMs < 0 ? 0 : Math.max(0, windowMs - elapsedMs);
}
