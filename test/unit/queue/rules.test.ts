import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { overdueAt, type WorkItem } from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { mayWrite } from "../../../lib/queue/rules/may-write.ts";
import { rules } from "../../../lib/queue/rules/rules.ts";
import {
  backoffMs,
  leaseMs,
  marginMs,
  maxAttempts,
  minDueMs,
  recheckMs,
  renewEveryMs,
  wakeMs,
} from "../../../lib/queue/timing.ts";
import { keyOf, workItem } from "../../contract/state-back-end.ts";

const key = keyOf("web");
const now = 1_000_000;
const plain = { key: formatWorkKey(key) };
const held = { holder: "other", renewals: 2 };

describe("a request", () => {
  const cases: readonly {
    name: string;
    item: WorkItem | undefined;
    change: Partial<WorkItem> | undefined;
    send: boolean;
  }[] = [
    {
      name: "of an object never seen makes its item",
      item: undefined,
      change: { requested: 1, wakeUntil: now + wakeMs },
      send: true,
    },
    {
      name: "of an idle object counts up and sends",
      item: workItem(key, { started: 1 }),
      change: { requested: 2, wakeUntil: now + wakeMs },
      send: true,
    },
    {
      name: "that a waiting one covers changes nothing",
      item: workItem(key, { wakeUntil: now + 1 }),
      change: undefined,
      send: false,
    },
    {
      name: "that a waiting one covers sends again once the wake-up is no longer trusted",
      item: workItem(key, { wakeUntil: now }),
      change: { requested: 1, wakeUntil: now + wakeMs },
      send: true,
    },
    {
      name: "during a run counts up and leaves the sending to the run's end",
      item: workItem(key, { started: 1, token: 3, lease: held, wakeUntil: now + 5 }),
      change: { requested: 2, wakeUntil: now + 5 },
      send: false,
    },
    {
      name: "during the wait for a wake-up that was sent for a due time, with no run under way, sends",
      item: workItem(key, { started: 1, wakeUntil: now + 5 }),
      change: { requested: 2, wakeUntil: now + wakeMs },
      send: true,
    },
    {
      name: "during a run whose holder is not trusted any more sends by itself",
      item: workItem(key, { started: 1, token: 3, lease: held, wakeUntil: now - 1 }),
      change: { requested: 2, wakeUntil: now + wakeMs },
      send: true,
    },
  ];
  test.for(cases)("$name", ({ item, change, send }) => {
    const before = item ?? { ...workItem(key), version: 0 };
    expect(rules.onRequest(item, key, now)).toEqual({ item: change && { ...before, ...change }, send });
  });
});

describe("a wake-up", () => {
  const waking = { wakeUp: plain, holder: "me", input: undefined, now };
  const kindOf = (item: WorkItem | undefined, extra: object = {}): string =>
    rules.onWakeUp(item, { ...waking, ...extra }).kind;

  test("takes the lease of a requested object: a new token, all requests so far, one attempt more", () => {
    const item = workItem(key, { requested: 4, started: 2, token: 7, dueAt: 5, input: "a" });
    expect(rules.onWakeUp(item, waking)).toEqual({
      kind: "run",
      item: {
        ...item,
        started: 4,
        token: 8,
        lease: { holder: "me", renewals: 0 },
        attempts: 1,
        dueAt: undefined,
        wakeUntil: now + leaseMs,
      },
    });
  });

  test("is dropped where there is no item, nothing requested and nothing due", () => {
    expect(kindOf(undefined)).toBe("drop");
    expect(kindOf(workItem(key, { started: 1 }))).toBe("drop");
    expect(kindOf(workItem(key, { started: 1, dueAt: now - 1_000 }))).toBe("drop");
  });

  test("runs what is due by the word of the message, not by its reader's clock", () => {
    const item = workItem(key, { started: 1, dueAt: now + 300_000 });
    expect(kindOf(item, { wakeUp: { ...plain, dueAt: now + 300_000 } })).toBe("run");
    expect(kindOf(item, { wakeUp: { ...plain, dueAt: now - 1 } })).toBe("drop");
  });

  test("is sent on where another holds the lease, with the lease that it saw", () => {
    const item = workItem(key, { token: 7, attempts: 1, lease: held });
    const wakeUp = { ...plain, held };
    expect(rules.onWakeUp(item, waking)).toEqual({ kind: "forward", wakeUp, delayMs: leaseMs });
    expect(kindOf(item, { wakeUp: { ...plain, held: { ...held, renewals: 1 } } })).toBe("forward");
    expect(kindOf(item, { wakeUp: { ...plain, held: { ...held, holder: "another" } } })).toBe("forward");
    expect(kindOf(item, { wakeUp })).toBe("look");
    expect(kindOf(item, { wakeUp, input: "a" })).toBe("run");
  });

  test("takes the lease of a dead holder over, and knows that its process may have died of the run", () => {
    const item = workItem(key, { token: 7, attempts: 1, lease: held });
    expect(rules.onWakeUp(item, { ...waking, wakeUp: { ...plain, held }, input: "a" })).toMatchObject({
      kind: "run",
      item: { token: 8, lease: { holder: "me", renewals: 0 }, attempts: 2, died: true, input: "a" },
    });
  });

  test("puts off a dead run whose back-off is longer than the time it took to find it dead", () => {
    const item = workItem(key, { token: 7, attempts: 9, lease: held, input: "a" });
    const wakeUp = { ...plain, held };
    const freed = { ...item, lease: undefined, wakeUntil: undefined, dueAt: now + backoffMs(9), died: true };
    for (const input of ["a", null]) {
      const decision = rules.onWakeUp({ ...item, wakeUntil: now - 1 }, { ...waking, wakeUp, input });
      expect(decision).toEqual({ kind: "settle", wait: true, item: freed });
    }
    expect(rules.onWakeUp(item, { ...waking, wakeUp, input: "b" })).toMatchObject({
      kind: "run",
      item: { attempts: 1, input: "b" },
    });
  });

  const backingOff = workItem(key, { requested: 2, started: 1, attempts: 3, input: "a", dueAt: now + 9_000 });

  test("during a back-off waits for its end, unless the input is another", () => {
    expect(kindOf(backingOff)).toBe("look");
    expect(rules.onWakeUp({ ...backingOff, wakeUntil: now }, { ...waking, input: "a" })).toEqual({
      kind: "settle",
      wait: false,
      item: { ...backingOff, started: 2, wakeUntil: undefined },
    });
    expect(rules.onWakeUp(backingOff, { ...waking, input: "b" })).toMatchObject({
      kind: "run",
      item: { attempts: 1, input: "b" },
    });
    expect(kindOf(backingOff, { input: null })).toBe("drop");
  });

  test("during a back-off learns the input where none was known yet, which is no change of it", () => {
    const { input: _, ...unlooked } = backingOff;
    expect(rules.onWakeUp({ ...unlooked, input: undefined }, { ...waking, input: "a" })).toMatchObject({
      kind: "settle",
      item: { attempts: 3, input: "a" },
    });
  });

  test("at the end of a back-off runs, and keeps the input that it knows where nobody can look", () => {
    const wakeUp = { ...plain, dueAt: now + 9_000 };
    expect(rules.onWakeUp(backingOff, { ...waking, wakeUp, input: null })).toMatchObject({
      kind: "run",
      item: { attempts: 4, input: "a", dueAt: undefined },
    });
  });

  test(`parks the object after ${maxAttempts} attempts, and at last without trying to tell its user`, () => {
    const wakeUp = { ...plain, dueAt: 5 };
    const failing = (attempts: number) => workItem(key, { started: 1, attempts, input: "a", dueAt: 5 });
    expect(kindOf(failing(maxAttempts - 1), { wakeUp, input: "a" })).toBe("run");
    const decide = (attempts: number) => rules.onWakeUp(failing(attempts), { ...waking, wakeUp, input: "a" });
    expect(decide(maxAttempts)).toMatchObject({ kind: "park", announce: true, item: { attempts: maxAttempts + 1 } });
    expect(decide(maxAttempts + 2)).toMatchObject({ kind: "park", announce: true });
    expect(decide(maxAttempts + 3)).toMatchObject({ kind: "park", announce: false });
  });

  test("leaves a parked object alone until its input is another, and looks again in an hour", () => {
    const parked = workItem(key, { requested: 5, started: 4, phase: "Poisoned", attempts: 13, input: "a" });
    expect(rules.onWakeUp({ ...parked, wakeUntil: now }, { ...waking, input: "a" })).toEqual({
      kind: "settle",
      wait: false,
      item: { ...parked, started: 5, handled: 5, wakeUntil: undefined, dueAt: now + recheckMs },
    });
    expect(rules.onWakeUp(parked, { ...waking, input: "b" })).toMatchObject({
      kind: "run",
      item: { attempts: 1, phase: "Active" },
    });
    expect(kindOf({ ...parked, input: undefined }, { input: "a" })).toBe("run");
    expect(kindOf(parked, { input: null })).toBe("drop");
  });

  test("that is due leaves a parked object alone as well: only another input runs it", () => {
    const parked = workItem(key, { started: 1, phase: "Poisoned", attempts: 13, input: "a", dueAt: 5 });
    expect(kindOf(parked, { wakeUp: { ...plain, dueAt: 5 }, input: "a" })).toBe("settle");
  });
});

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

  test("that is good forgets the attempts and keeps what the flow handed on", () => {
    const seen = { objectUid: "o", clusterUid: "c" };
    const result = { dueInMs: 1_500.5, outcome: "applied", memo: { since: 1 }, seen };
    const ended = { ...dropped, handled: 2, attempts: 0, died: false, dueAt: now + 1_501, memo: { since: 1 }, seen };
    expect(rules.onEnd({ ...running, died: true }, 4, { kind: "finished", result }, now)).toEqual({
      ...running,
      ...ended,
      input: undefined,
      fault: undefined,
    });
  });

  test("whose flow saw nothing and wants no next run keeps what an earlier run saw, and is due no more", () => {
    const seen = { objectUid: "o", clusterUid: "c" };
    const end = { kind: "finished", result: { dueInMs: undefined, outcome: "waiting" } } as const;
    expect(rules.onEnd({ ...running, seen, dueAt: 5 }, 4, end, now)).toMatchObject({ seen, dueAt: undefined });
  });

  test("of an object that nobody has asked for meanwhile waits for no wake-up", () => {
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

  test.each(["handedBack", "cutOff"] as const)("that was %s is not counted and due at once", (kind) => {
    expect(rules.onEnd(running, 4, { kind }, now)).toEqual({ ...running, ...dropped, attempts: 1, dueAt: now });
    expect(rules.onEnd({ ...running, attempts: 0 }, 4, { kind }, now)?.attempts).toBe(0);
  });

  test("that parks the object counts its requests as handled and looks again in an hour", () => {
    expect(rules.onEnd({ ...running, died: true }, 4, { kind: "parked" }, now)).toEqual({
      ...running,
      ...dropped,
      died: false,
      handled: 2,
      dueAt: now + recheckMs,
      phase: "Poisoned",
    });
  });

  test("of a lease that is another's by now writes nothing", () => {
    expect(rules.onEnd(running, 3, { kind: "parked" }, now)).toBeUndefined();
    expect(rules.onEnd({ ...running, lease: undefined }, 4, { kind: "parked" }, now)).toBeUndefined();
    expect(rules.onEnd(undefined, 4, { kind: "parked" }, now)).toBeUndefined();
  });

  test("is put off by each renewal of its lease, which only its own holder makes", () => {
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

  test("a waiting request is sent on at once, and a back-off's end has its message besides", () => {
    const due = { wakeUp: { ...plain, dueAt: now + 750 }, delayMs: 750 };
    const dirty = { wakeUp: plain, delayMs: 0 };
    const item = workItem(key, { dueAt: now + 750 });
    expect(rules.followUps({ ...item, started: 1 }, now)).toEqual([due]);
    expect(rules.followUps(item, now)).toEqual([dirty]);
    expect(rules.followUps({ ...item, attempts: 1 }, now)).toEqual([dirty, due]);
    expect(rules.followUps(workItem(key), now)).toEqual([dirty]);
    expect(rules.followUps(workItem(key, { started: 1 }), now)).toEqual([]);
  });

  test("a due time that has passed is sent on at once", () => {
    const dueAt = now - 5;
    expect(rules.followUps(workItem(key, { started: 1, dueAt }), now)).toEqual([
      { wakeUp: { ...plain, dueAt }, delayMs: 0 },
    ]);
  });

  test("a due time beyond the queue's reach is left to the sweep", () => {
    const delaysOf = (delayMs: number) =>
      rules.followUps(workItem(key, { started: 1, dueAt: now + delayMs }), now).map((message) => message.delayMs);
    expect(delaysOf(900_000)).toEqual([900_000]);
    expect(delaysOf(900_001)).toEqual([]);
  });
});

describe("the sweep", () => {
  test("wakes what is past wakeUntil or dueAt, says what is due, and moves it out of the index", () => {
    expect(rules.onSweep(workItem(key, { wakeUntil: now + 1, dueAt: now - 1 }), now)).toBeUndefined();
    expect(rules.onSweep(workItem(key), now)).toBeUndefined();
    const woken = rules.onSweep(workItem(key, { dueAt: now }), now);
    expect(woken?.wakeUp).toEqual({ ...plain, dueAt: now });
    expect(woken === undefined ? 0 : overdueAt(woken.item)).toBe(now + wakeMs);
    expect(rules.onSweep(workItem(key, { wakeUntil: now, dueAt: now + 1 }), now)?.wakeUp).toEqual(plain);
  });
});

describe("a call to the table that has failed", () => {
  test.for([
    { name: "is tried again a few times", faults: 4, inDoubt: false, hasTime: false, again: true },
    { name: "is given up at last", faults: 5, inDoubt: false, hasTime: true, again: false },
    {
      name: "is given up at last where nobody can wait for what became of it",
      faults: 5,
      inDoubt: true,
      hasTime: false,
      again: false,
    },
    {
      name: "is tried for as long as there is time where it may have taken a lease",
      faults: 99,
      inDoubt: true,
      hasTime: true,
      again: true,
    },
  ])("$name", ({ again, ...call }) => {
    expect(rules.tryAgain(call)).toBe(again);
  });
});

describe("a holder", () => {
  test("can try three times to renew its lease before it has to stop", () => {
    expect(3 * renewEveryMs).toBeLessThanOrEqual(leaseMs - marginMs);
  });

  test.for([
    { name: "may write within 45 s of its last renewal", wall: 44_999, monotonic: 44_999, allowed: true },
    { name: "stops at 45 s", wall: 45_000, monotonic: 45_000, allowed: false },
    { name: "stops where only the wall clock says so: it was frozen", wall: 50_000, monotonic: 10, allowed: false },
    {
      name: "stops where only the monotonic clock says so: the wall clock was set back",
      wall: -90_000,
      monotonic: 50_000,
      allowed: false,
    },
  ])("$name", ({ wall, monotonic, allowed }) => {
    const renewed = { wall: 5_000_000, monotonic: 300 };
    expect(mayWrite(renewed, { wall: renewed.wall + wall, monotonic: renewed.monotonic + monotonic })).toBe(allowed);
  });
});

describe("back-off", () => {
  test("starts at 750 ms, never shrinks and never passes 15 minutes", () => {
    expect([1, 2, 3, 4].map(backoffMs)).toEqual([750, 1_500, 3_000, 6_000]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), (attempts) => {
        expect(backoffMs(attempts + 1)).toBeGreaterThanOrEqual(backoffMs(attempts));
        expect(backoffMs(attempts)).toBeLessThanOrEqual(900_000);
      }),
    );
  });
});
