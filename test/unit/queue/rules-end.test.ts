import { describe, expect, test } from "vitest";
import { overdueAt } from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { leaseMs, minDueMs, recheckMs, wakeMs } from "../../../lib/queue/timing.ts";
import { keyOf, workItem } from "../../contract/state-back-end.ts";

const key = keyOf("web");
const now = 1_000_000;
const plain = { key: formatWorkKey(key) };
const held = { holder: "other", renewals: 2 };

describe("the end of a run", () => {
  const running = workItem(key, {
    requested: 3,
    started: 2,
    token: 4,
    attempts: 2,
    lease: held,
    input: "a",
    fault: "old",
  });

  const dropped = { lease: undefined, wakeUntil: now + wakeMs };

  test("that succeeded resets the attempts and keeps the carried state of the flow", () => {
    const seen = { objectUid: "o", clusterUid: "c" };
    const result = { dueInMs: 1_500.5, outcome: "applied", carried: { since: 1 }, seen };
    const ended = { ...dropped, handled: 2, attempts: 0, died: false, dueAt: now + 1_501, carried: { since: 1 }, seen };
    expect(rules.onEnd({ ...running, died: true }, 4, { kind: "finished", result }, now)).toEqual({
      ...running,
      ...ended,
      input: undefined,
      fault: undefined,
    });
  });

  test("whose flow observed nothing and wants no next run keeps the earlier observation, and is not due any more", () => {
    const seen = { objectUid: "o", clusterUid: "c" };
    const end = { kind: "finished", result: { dueInMs: undefined, outcome: "waiting" } } as const;
    expect(rules.onEnd({ ...running, seen, dueAt: 5 }, 4, end, now)).toMatchObject({ seen, dueAt: undefined });
  });

  test("of an object without a newer request waits for no wake-up", () => {
    const end = { kind: "failed", fault: "new" } as const;
    expect(rules.onEnd({ ...running, requested: 2 }, 4, end, now)?.wakeUntil).toBeUndefined();
  });

  test("that threw keeps the attempts, waits out the back-off, and shows that its process lives", () => {
    expect(rules.onEnd({ ...running, died: true }, 4, { kind: "failed", fault: "new" }, now)).toEqual({
      ...running,
      ...dropped,
      died: false,
      dueAt: now + 1_500,
      fault: "new",
    });
  });

  test.each(["handedBack", "cutOff"] as const)("that was %s is not counted and is due at once", (kind) => {
    expect(rules.onEnd(running, 4, { kind }, now)).toEqual({ ...running, ...dropped, attempts: 1, dueAt: now });
    expect(rules.onEnd({ ...running, attempts: 0 }, 4, { kind }, now)?.attempts).toBe(0);
  });

  test("that parks the object counts its requests as handled and checks again in an hour", () => {
    expect(rules.onEnd({ ...running, died: true }, 4, { kind: "parked" }, now)).toEqual({
      ...running,
      ...dropped,
      died: false,
      handled: 2,
      dueAt: now + recheckMs,
      phase: "Poisoned",
    });
  });

  test("whose lease another handler has taken writes nothing", () => {
    expect(rules.onEnd(running, 3, { kind: "parked" }, now)).toBeUndefined();
    expect(rules.onEnd({ ...running, lease: undefined }, 4, { kind: "parked" }, now)).toBeUndefined();
    expect(rules.onEnd(undefined, 4, { kind: "parked" }, now)).toBeUndefined();
  });

  test("is postponed by each renewal of its lease, which only its holder makes", () => {
    const lease = { ...held, renewals: held.renewals + 1 };
    expect(rules.onRenew(running, 4, now)).toEqual({ ...running, lease, wakeUntil: now + leaseMs });
    expect(rules.onRenew(running, 3, now)).toBeUndefined();
    expect(rules.onRenew({ ...running, lease: undefined }, 4, now)).toBeUndefined();
    expect(rules.onRenew(undefined, 4, now)).toBeUndefined();
  });

  test("is preceded by renewals that count up and keep the sweep away for another lease", () => {
    const renewed = rules.onRenew({ ...running, wakeUntil: now }, 4, now);
    expect(renewed?.lease).toEqual({ ...held, renewals: held.renewals + 1 });
    expect(renewed === undefined ? 0 : overdueAt(renewed)).toBe(now + leaseMs);
  });
});

describe("after the end of a run", () => {
  test.each([-1, 0, 1, 999, 1_000])("a flow that wants to run again in %d ms runs in a second", (dueInMs) => {
    const item = workItem(key, { token: 3, lease: held });
    const ended = rules.onEnd(item, 3, { kind: "finished", result: { dueInMs, outcome: "applied" } }, now);
    expect(ended?.dueAt).toBe(now + minDueMs);
    expect(minDueMs).toBe(1_000);
  });

  test("a waiting request is sent at once, and the end of a back-off also has its message", () => {
    const due = { wakeUp: { ...plain, dueAt: now + 750 }, delayMs: 750 };
    const dirty = { wakeUp: plain, delayMs: 0 };
    const item = workItem(key, { dueAt: now + 750 });
    expect(rules.followUps({ ...item, started: 1 }, now)).toEqual([due]);
    expect(rules.followUps(item, now)).toEqual([dirty]);
    expect(rules.followUps({ ...item, attempts: 1 }, now)).toEqual([dirty, due]);
    expect(rules.followUps(workItem(key), now)).toEqual([dirty]);
    expect(rules.followUps(workItem(key, { started: 1 }), now)).toEqual([]);
  });

  test("a due time in the past is sent at once", () => {
    const dueAt = now - 5;
    expect(rules.followUps(workItem(key, { started: 1, dueAt }), now)).toEqual([
      { wakeUp: { ...plain, dueAt }, delayMs: 0 },
    ]);
  });

  test("a due time beyond the queue's maximum delay is left to the sweep", () => {
    const delaysOf = (delayMs: number) =>
      rules.followUps(workItem(key, { started: 1, dueAt: now + delayMs }), now).map((message) => message.delayMs);
    expect(delaysOf(900_000)).toEqual([900_000]);
    expect(delaysOf(900_001)).toEqual([]);
  });
});
