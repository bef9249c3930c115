import { ageOf, type BothClocks, type Moment, momentOf } from "./moment.ts";

/** So long after it is first needed a place may be slow: a process that has just started logs in and opens connections. */
export const firstContactMs = 10_000;

/**
 * Whether this process needs a place, the state or a cluster, for the first time, or did so a moment ago. Each place has one such time in
 * the life of a process, so one that never answers costs no more than that.
 */
export function firstContacts(clock: BothClocks): (place: string) => boolean {
  const since = new Map<string, Moment>();
  return (place) => {
    const first = since.get(place) ?? momentOf(clock);
    since.set(place, first);
    return ageOf(first, clock) < firstContactMs;
  };
}
