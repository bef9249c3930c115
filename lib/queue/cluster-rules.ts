import type { BusyProcess, ClusterHold, ClusterState } from "../core/ports/cluster-states.ts";
import type { WakeUp } from "../core/ports/wake-ups.ts";
import type { WorkItem } from "../core/ports/work-items.ts";
import type { Instant } from "./rules.ts";
import type { WakeBudget } from "./sweep.ts";
import { marginMs, wakeMs } from "./timing.ts";

/**
 * The rules by which one cluster neither starves nor stalls another (docs/maintainers/adr/0027-one-cluster-does-not-stall-another.md), as pure
 * functions. Clocks of different machines are never compared: a row that stays the same for long enough, by the clocks of the
 * process that reads it, is one that no process looks after any longer.
 */

/** Runs in a row that end without an answer, within one process, before the cluster itself is asked. */
export const unreachableRuns = 3;
/** A hold that no probe has raised for so long does not count: probes come every minute. */
export const holdDeadMs = 180_000;
/** A process writes how many runs it has of a cluster once it has had some for so long: a short run writes nothing. */
export const publishAfterMs = 5_000;
/** How often it writes that again. */
export const publishEveryMs = 5_000;
/** A busy process whose row stays the same for so long is dead: four renewals are missing. */
export const busyDeadMs = 25_000;
/** How many runs of one cluster begin at the same time at most, where the installation does not say. */
export const defaultMaxRuns = 20;
/** A wake-up that meets a full cluster comes again after a time between these: not all of them at the same moment. */
export const fullDelayMs = { least: 5_000, most: 15_000 } as const;

/** The rows of a cluster as a process reads them, and since when it has seen each row unchanged. */
export interface ClusterView {
  readonly state: ClusterState;
  /** By the row's name, `hold` or the name of a process. */
  readonly sightings: ReadonlyMap<string, Sighting>;
}

interface Sighting {
  /** Changes with each renewal of the row. */
  readonly mark: string;
  readonly since: Instant;
}

export const emptyView: ClusterView = { state: { hold: undefined, busy: [] }, sightings: new Map() };

const holdName = "hold";

/** The view after a look at the cluster's rows. */
export function viewAfter(before: ClusterView, state: ClusterState, now: Instant): ClusterView {
  const marks = new Map(state.busy.map((busy) => [`busy ${busy.process}`, String(busy.renewals)]));
  if (state.hold !== undefined) marks.set(holdName, markOf(state.hold));
  const sightings = [...marks].map(([name, mark]): [string, Sighting] => {
    const seen = before.sightings.get(name);
    return [name, seen?.mark === mark ? seen : { mark, since: now }];
  });
  return { state, sightings: new Map(sightings) };
}

function markOf({ kind, since, probes }: ClusterHold): string {
  return `${kind} ${since} ${probes}`;
}

/** For how long a row has been the same. The clock that shows more time counts: one may have stood still, or been set back. */
function unchangedMs({ sightings }: ClusterView, name: string, now: Instant): number {
  const since = sightings.get(name)?.since;
  return since === undefined ? 0 : elapsedMs(since, now);
}

export function elapsedMs(since: Instant, now: Instant): number {
  return Math.max(now.wall - since.wall, now.monotonic - since.monotonic);
}

/** Why no run may begin in the cluster; undefined where runs may, and where no process looks after the hold any longer. */
export function holdIn(view: ClusterView, now: Instant): ClusterHold | undefined {
  return unchangedMs(view, holdName, now) < holdDeadMs ? view.state.hold : undefined;
}

/** The rows of processes that have died. */
export function deadProcesses(view: ClusterView, now: Instant): readonly BusyProcess[] {
  return view.state.busy.filter(({ process }) => unchangedMs(view, `busy ${process}`, now) >= busyDeadMs);
}

/** The runs of a cluster in other processes than this one, as far as they have said so. */
export function runsElsewhere(view: ClusterView, self: string, now: Instant): number {
  const dead = new Set(deadProcesses(view, now));
  return view.state.busy
    .filter((busy) => busy.process !== self && !dead.has(busy))
    .reduce((sum, { runs }) => sum + runs, 0);
}

/**
 * Whether a process may begin another run of a cluster now. Until it has published its runs, a process takes only a quarter of the
 * places that it believes free, since others may believe the same: so processes that begin at the same time do not take all of them.
 *
 * @param runs of this process now
 * @param published its runs as last published
 */
export function mayBegin(
  { runs, published }: { readonly runs: number; readonly published: number },
  elsewhere: number,
  maxRuns: number,
): "now" | "onceTold" | "full" {
  if (runs + elsewhere >= maxRuns) return "full";
  const untold = Math.max(0, runs - published);
  return untold < Math.ceil((maxRuns - elsewhere - published) / 4) ? "now" : "onceTold";
}

/** How many of a cluster's overdue items one sweep wakes, and how fast: as many a second as may run at the same time. */
export function wakeBudget(view: ClusterView, maxRuns: number, now: Instant): WakeBudget {
  if (holdIn(view, now) !== undefined) return { atMost: 0, perSecond: maxRuns };
  // Objects whose wake-ups wait for a place also look overdue if clocks are wrong: this avoids a second wake-up for each every
  // minute.
  const isFull = runsElsewhere(view, "", now) >= maxRuns;
  return { atMost: isFull ? maxRuns : maxRuns * secondsOfSweep, perSecond: maxRuns };
}

/** A sweep comes each minute. */
const secondsOfSweep = 60;

/** What becomes of a wake-up that meets a full cluster. */
export interface Postponed {
  /** What to write, if anything. */
  readonly item: WorkItem | undefined;
  /** Whether the wake-up is sent again; false: there is nothing to do for it. */
  readonly again: boolean;
}

/**
 * The wake-up comes again after `delayMs`. It counts as under way until then, so that the sweep does not send another beside it;
 * that is written once a minute at most. A held lease is left to its holder.
 */
export function onFull(
  item: WorkItem | undefined,
  { dueAt }: Pick<WakeUp, "dueAt">,
  delayMs: number,
  now: number,
): Postponed {
  if (item === undefined) return { item: undefined, again: false };
  if (item.lease !== undefined) return { item: undefined, again: true };
  const isDue = item.dueAt !== undefined && item.dueAt === dueAt;
  if (item.requested === item.started && !isDue) return { item: undefined, again: false };
  const isUnderWay = item.wakeUntil !== undefined && item.wakeUntil >= now + delayMs + marginMs;
  return { item: isUnderWay ? undefined : { ...item, wakeUntil: now + delayMs + wakeMs }, again: true };
}
