import { describe, expect, test } from "vitest";
import type { ClusterState } from "../../../lib/core/ports/cluster-states.ts";
import type { WorkItem } from "../../../lib/core/ports/work-items.ts";
import {
  deadProcesses,
  emptyView,
  holdIn,
  mayBegin,
  onFull,
  runsElsewhere,
  viewAfter,
  wakeBudget,
} from "../../../lib/queue/cluster-rules.ts";
import { keyOf, workItem } from "../../contract/state-back-end.ts";

const hold = { kind: "unreachable", reason: "no answer", since: 1, probes: 3 } as const;
const busy = { process: "p1", runs: 7, renewals: 4 };
const state: ClusterState = { hold, busy: [busy] };
const start = { wall: 1_000_000, monotonic: 500 };
const after = (wall: number, monotonic = wall) => ({ wall: start.wall + wall, monotonic: start.monotonic + monotonic });
const seen = viewAfter(emptyView, state, start);

describe("a published row of a process that does not change", () => {
  test.each([
    { name: "by both clocks", now: after(25_000), dead: true },
    { name: "while the wall clock was set back", now: after(-300_000, 25_000), dead: true },
    { name: "while the monotonic clock stood still", now: after(25_000, 0), dead: true },
    { name: "for less than 25 s", now: after(24_999), dead: false },
  ])("for 25 s belongs to a dead process: $name", ({ now, dead }) => {
    // As often as it is read.
    const again = viewAfter(seen, state, after(10_000));
    expect(deadProcesses(again, now)).toEqual(dead ? [busy] : []);
    expect(runsElsewhere(again, "p2", now)).toBe(dead ? 0 : 7);
  });

  test("counts from its last renewal", () => {
    const renewed = viewAfter(seen, { hold, busy: [{ ...busy, renewals: 5 }] }, after(20_000));
    expect(runsElsewhere(renewed, "p2", after(44_999))).toBe(7);
    expect(runsElsewhere(renewed, "p2", after(45_000))).toBe(0);
  });

  test("for three minutes is a hold that is no longer probed, and each probe makes it count again", () => {
    expect(holdIn(seen, after(179_999))).toEqual(hold);
    expect(holdIn(seen, after(180_000))).toBeUndefined();
    const probed = viewAfter(seen, { hold: { ...hold, probes: 4 }, busy: [] }, after(170_000));
    expect(holdIn(probed, after(300_000))).toMatchObject({ probes: 4 });
    const anew = viewAfter(seen, { hold: { ...hold, since: 2 }, busy: [] }, after(170_000));
    expect(holdIn(anew, after(300_000))).toMatchObject({ since: 2 });
  });

  test("does not add the process's own runs to those elsewhere", () => {
    expect(runsElsewhere(seen, "p1", start)).toBe(0);
  });
});

test.each([
  { runs: 0, published: 0, elsewhere: 0, maxRuns: 20, answer: "now" },
  { runs: 4, published: 0, elsewhere: 0, maxRuns: 20, answer: "now" },
  { runs: 5, published: 0, elsewhere: 0, maxRuns: 20, answer: "onceTold" },
  { runs: 5, published: 5, elsewhere: 0, maxRuns: 20, answer: "now" },
  { runs: 1, published: 0, elsewhere: 16, maxRuns: 20, answer: "onceTold" },
  { runs: 19, published: 19, elsewhere: 0, maxRuns: 20, answer: "now" },
  { runs: 20, published: 20, elsewhere: 0, maxRuns: 20, answer: "full" },
  { runs: 0, published: 0, elsewhere: 20, maxRuns: 20, answer: "full" },
  { runs: 0, published: 0, elsewhere: 0, maxRuns: 1, answer: "now" },
  { runs: 1, published: 0, elsewhere: 0, maxRuns: 1, answer: "full" },
  // Its row is older than the end of its runs.
  { runs: 0, published: 9, elsewhere: 0, maxRuns: 20, answer: "now" },
])(
  "a process with $runs runs, $published published, $elsewhere elsewhere, of $maxRuns: $answer",
  ({ answer, ...of }) => {
    expect(mayBegin(of, of.elsewhere, of.maxRuns)).toBe(answer);
  },
);

describe("a sweep wakes", () => {
  test.each([
    {
      name: "as many objects per second as may run at once, for one minute",
      of: { hold: undefined, busy: [] },
      atMost: 240,
    },
    { name: "no object of a cluster on hold", of: { hold, busy: [] }, atMost: 0 },
    {
      name: "no object of a cluster whose gate is closed",
      of: { hold: { ...hold, kind: "refused" as const }, busy: [] },
      atMost: 0,
    },
    { name: "few objects of a full cluster", of: { hold: undefined, busy: [{ ...busy, runs: 4 }] }, atMost: 4 },
  ])("$name", ({ of, atMost }) => {
    expect(wakeBudget(viewAfter(emptyView, of, start), 4, start)).toEqual({ atMost, perSecond: 4 });
  });
});

describe("a wake-up for a full cluster", () => {
  const now = 1_000_000;
  const of = (fields: Partial<WorkItem>) =>
    workItem(keyOf("web"), { requested: 2, started: 1, attempts: 3, ...fields });
  const lease = { holder: "other", renewals: 1 };

  test.each<{ name: string; item: WorkItem | undefined; again: boolean; wakeUntil?: number; dueAt?: number }>([
    { name: "with an unknown object is dropped", item: undefined, again: false },
    { name: "with nothing to do is dropped", item: of({ requested: 1, dueAt: 7 }), again: false },
    {
      name: "for a due object is sent again",
      item: of({ requested: 1, dueAt: 7 }),
      again: true,
      wakeUntil: now + 70_000,
      dueAt: 7,
    },
    { name: "that is not counted yet is sent again, and counted", item: of({}), again: true, wakeUntil: now + 70_000 },
    {
      name: "that the sweep is about to send again is counted for longer",
      item: of({ wakeUntil: now + 24_999 }),
      again: true,
      wakeUntil: now + 70_000,
    },
    {
      name: "that is counted for long enough is sent again without a write",
      item: of({ wakeUntil: now + 25_000 }),
      again: true,
    },
    {
      name: "for an object that is running is sent again, and its lease is not changed",
      item: of({ lease, wakeUntil: now }),
      again: true,
    },
  ])("$name", ({ item, again, wakeUntil, dueAt }) => {
    const postponed = onFull(item, dueAt === undefined ? {} : { dueAt }, 10_000, now);
    expect(postponed.again).toBe(again);
    expect(postponed.item).toEqual(wakeUntil === undefined || item === undefined ? undefined : { ...item, wakeUntil });
  });
});
