import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WorkItem } from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { reconcileRequests } from "../../../lib/queue/request-reconcile.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { burstMs, hintGapMs, wakeMs } from "../../../lib/queue/timing.ts";
import { keyOf, never, workItem } from "../../contract/state-back-end.ts";
import { queueWorld } from "./queue-world.ts";

const key = keyOf("web");
const now = 1_000_000;
const plain = { key: formatWorkKey(key) };
const lease = { holder: "other", renewals: 2 };
const finished = { kind: "finished", result: { outcome: "unchanged", dueInMs: undefined } } as const;

describe("a hint of an event", () => {
  const idle = workItem(key, { started: 1, handled: 1 });

  test("for an unknown object is sent at once", () => {
    const { item, ...sent } = rules.onRequest(undefined, key, now, "hint");
    expect(sent).toEqual({ send: true, delayMs: 0 });
    expect(item).toMatchObject({ requested: 1, hinted: true });
  });

  test.for([
    { name: "that no hint has run yet is sent at once", hintedAt: undefined, delayMs: 0 },
    { name: "that a hint has just run waits for the rest of the gap", hintedAt: now - 30, delayMs: hintGapMs - 30 },
    { name: "that a hint ran a gap ago is sent at once", hintedAt: now - hintGapMs, delayMs: 0 },
    { name: "whose last hinted run is in the future of this clock is sent at once", hintedAt: now + 1, delayMs: 0 },
  ])("for an idle object $name", ({ hintedAt, delayMs }) => {
    expect(rules.onRequest({ ...idle, hintedAt }, key, now, "hint")).toEqual({
      item: { ...idle, hintedAt, requested: 2, hinted: true, wakeUntil: now + delayMs + wakeMs },
      send: true,
      delayMs,
    });
  });

  test("writes nothing while another request waits", () => {
    for (const hinted of [true, undefined] as const) {
      const waiting = { ...idle, requested: 2, wakeUntil: now + 1, hinted };
      expect(rules.onRequest(waiting, key, now, "hint")).toMatchObject({ item: undefined, send: false });
    }
  });

  test("during a run is left to the end of the run", () => {
    const running = { ...idle, lease, wakeUntil: now + 5 };
    expect(rules.onRequest(running, key, now, "hint")).toEqual({
      item: { ...running, requested: 2, hinted: true },
      send: false,
      delayMs: 0,
    });
  });
});

describe("a request that is not a hint", () => {
  const recent = workItem(key, { started: 1, handled: 1, hintedAt: now - 10 });

  test("does not wait for the gap between hints", () => {
    expect(rules.onRequest(recent, key, now, "request")).toMatchObject({ send: true, delayMs: 0 });
  });

  test("is sent at once even if a hint waits, and covers this hint", () => {
    const waiting: WorkItem = { ...recent, requested: 2, wakeUntil: now + wakeMs, hinted: true };
    expect(rules.onRequest(waiting, key, now, "request")).toEqual({
      item: { ...waiting, hinted: undefined, wakeUntil: now + wakeMs },
      send: true,
      delayMs: 0,
    });
  });

  test("stays such a request if a hint comes after it", () => {
    const waiting: WorkItem = { ...recent, requested: 2, wakeUntil: now };
    expect(rules.onRequest(waiting, key, now, "hint").item).toMatchObject({ requested: 2, hinted: undefined });
  });

  test("during a run covers the hint that waits for its end", () => {
    const running: WorkItem = { ...recent, requested: 2, lease, wakeUntil: now + 5, hinted: true };
    expect(rules.onRequest(running, key, now, "request")).toEqual({
      item: { ...running, hinted: undefined },
      send: false,
      delayMs: 0,
    });
    expect(rules.followUps({ ...running, lease: undefined, hinted: undefined }, now)).toEqual([
      { wakeUp: plain, delayMs: 0 },
    ]);
  });
});

describe("a run that a hint started", () => {
  const waking = { wakeUp: plain, holder: "me", input: undefined, now };

  test("records when it began, and no other run does", () => {
    const hinted = rules.onWakeUp(workItem(key, { hinted: true }), waking);
    expect(hinted).toMatchObject({ kind: "run", item: { hintedAt: now, hinted: undefined } });
    const other = rules.onWakeUp(workItem(key, { hintedAt: 7 }), waking);
    expect(other).toMatchObject({ kind: "run", item: { hintedAt: 7 } });
  });

  const running = workItem(key, { requested: 2, started: 1, token: 4, lease, hinted: true, hintedAt: now - 300 });

  test("is followed, one second after it began, by one run for the hints that came during it", () => {
    const ended = rules.onEnd(running, 4, finished, now);
    expect(ended).toMatchObject({ wakeUntil: now + burstMs - 300 + wakeMs });
    expect(ended && rules.followUps(ended, now)).toEqual([{ wakeUp: plain, delayMs: burstMs - 300 }]);
  });

  test.for([
    { name: "took longer than that", hintedAt: now - burstMs },
    { name: "was for something else", hintedAt: undefined },
    { name: "began in the future of this clock", hintedAt: now + 1 },
  ])("is followed at once if it $name", ({ hintedAt }) => {
    expect(rules.followUps({ ...running, lease: undefined, hintedAt }, now)).toEqual([{ wakeUp: plain, delayMs: 0 }]);
  });

  test("that is handed back continues at once, whatever hints came during it", () => {
    const ended = rules.onEnd(running, 4, { kind: "handedBack" }, now);
    expect(ended && rules.followUps(ended, now)).toEqual([{ wakeUp: plain, delayMs: 0 }]);
  });

  test("that is postponed by a back-off, or parked, leaves no hint behind", () => {
    const failing = workItem(key, { attempts: 3, input: "a", dueAt: now + 9_000, hinted: true });
    for (const phase of ["Active", "Poisoned"] as const) {
      const decision = rules.onWakeUp({ ...failing, phase }, { ...waking, input: "a" });
      expect(decision).toMatchObject({ kind: "writeOnly", item: { started: 1, hinted: undefined } });
    }
  });
});

test("the delay of a message for a hint comes from the rules for hints", async () => {
  const { deps, sent, store } = queueWorld();
  const requests = reconcileRequests(deps);
  store(workItem(key, { started: 1, hintedAt: deps.clock.now() - 40 }));
  await requests.hint(key, "event", never);
  await requests.request(key, "annotation", never);
  expect(sent).toEqual([
    { wakeUp: plain, delayMs: hintGapMs - 40 },
    { wakeUp: plain, delayMs: 0 },
  ]);
});

/** Plays hints at these times, in ms, for an object whose runs take so long, on a queue without faults. Answers when runs began. */
function play(hints: readonly number[], runMs: number): readonly number[] {
  const begun: number[] = [];
  const events: { at: number; happen: () => void }[] = [];
  let item: WorkItem | undefined;
  const at = (time: number, happen: () => void): void => void events.push({ at: time, happen });
  const wake = (time: number): void => {
    if (item?.lease !== undefined) return;
    const decision = rules.onWakeUp(item, { wakeUp: plain, holder: `h${time}`, input: undefined, now: time });
    if (decision.kind !== "run") return;
    ({ item } = decision);
    begun.push(time);
    at(time + runMs, () => end(time + runMs));
  };
  const end = (time: number): void => {
    item = item && rules.onEnd(item, item.token, finished, time);
    for (const { delayMs } of item === undefined ? [] : rules.followUps(item, time))
      at(time + delayMs, () => wake(time + delayMs));
  };
  for (const time of hints) {
    at(time, () => {
      const decision = rules.onRequest(item, key, time, "hint");
      item = decision.item ?? item;
      if (decision.send) at(time + decision.delayMs, () => wake(time + decision.delayMs));
    });
  }
  for (;;) {
    const next = events.reduce<number>((best, event, index) => {
      const found = events[best];
      return found === undefined || event.at < found.at ? index : best;
    }, 0);
    const [event] = events.splice(next, 1);
    if (event === undefined) return begun;
    event.happen();
  }
}

describe("hints for one object", () => {
  const hints = fc
    .array(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 3_000 })), {
      minLength: 1,
      maxLength: 200,
    })
    .map((gaps) => gaps.map((_, index) => now + gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap, 0)));
  const runMs = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 5_000 }));

  test("a thousand of them, evenly over a second, cost two runs", () => {
    const even = Array.from({ length: 1_000 }, (_, index) => now + index);
    for (const ms of [2, 10, 50, 200, 900]) expect(play(even, ms).length, `runs of ${ms} ms`).toBe(2);
  });

  test("are each followed by a run, within a second or at the end of the current run", () => {
    fc.assert(
      fc.property(hints, runMs, (times, ms) => {
        const begun = play(times, ms);
        for (const time of times) {
          const next = begun.find((start) => start >= time) ?? Infinity;
          expect(next - time).toBeLessThanOrEqual(Math.max(burstMs, ms));
        }
      }),
    );
  });

  test("start a run at once if there was none for a second and the last run is over", () => {
    fc.assert(
      fc.property(hints, runMs, (times, ms) => {
        const begun = play(times, ms);
        const quiet = times.filter((time, index) => {
          const last = Math.max(times[index - 1] ?? -Infinity, ...begun.filter((start) => start < time));
          return time - last - ms >= burstMs;
        });
        expect(begun).toEqual(expect.arrayContaining(quiet));
      }),
    );
  });

  test("start no two runs within the gap, and at most one per second while each run gets another hint", () => {
    fc.assert(
      fc.property(hints, runMs, (times, ms) => {
        const begun = play(times, ms);
        for (const [index, start] of begun.slice(1).entries()) {
          const before = begun[index] ?? start;
          const isMet = times.some((time) => time > before && time < before + ms);
          expect(start - before).toBeGreaterThanOrEqual(isMet ? burstMs : hintGapMs);
        }
      }),
    );
  });

  test("start as many runs as there are hints if each comes after the run of the one before", () => {
    const pushes = Array.from({ length: 5 }, (_, index) => now + index * 200);
    expect(play(pushes, 50)).toEqual(pushes);
  });
});
