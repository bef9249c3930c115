import { describe, expect, test } from "vitest";
import { overdueAt, type WorkItem } from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { attemptBackOffMs, leaseMs, maxAttempts, recheckMs, wakeMs } from "../../../lib/queue/timing.ts";
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
      name: "of an unknown object makes its item",
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
      name: "that a waiting request covers changes nothing",
      item: workItem(key, { wakeUntil: now + 1 }),
      change: undefined,
      send: false,
    },
    {
      name: "that a waiting request covers sends again once the wake-up no longer counts as under way",
      item: workItem(key, { wakeUntil: now }),
      change: { requested: 1, wakeUntil: now + wakeMs },
      send: true,
    },
    {
      name: "during a run counts up and leaves sending to the end of the run",
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
      name: "during a run whose holder no longer counts as alive sends by itself",
      item: workItem(key, { started: 1, token: 3, lease: held, wakeUntil: now - 1 }),
      change: { requested: 2, wakeUntil: now + wakeMs },
      send: true,
    },
  ];
  test.for(cases)("$name", ({ item, change, send }) => {
    const before = item ?? { ...workItem(key), version: 0 };
    expect(rules.onRequest(item, key, now)).toEqual({
      item: change && { ...before, ...change },
      send,
      delayMs: 0,
    });
  });
});

describe("a wake-up", () => {
  const waking = { wakeUp: plain, holder: "me", input: undefined, now };
  const kindOf = (item: WorkItem | undefined, extra: object = {}): string =>
    rules.onWakeUp(item, { ...waking, ...extra }).kind;

  test("takes the lease of a requested object: a new token, all requests so far, one more attempt", () => {
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

  test("is dropped if there is no item, or if nothing is requested or due", () => {
    expect(kindOf(undefined)).toBe("drop");
    expect(kindOf(workItem(key, { started: 1 }))).toBe("drop");
    expect(kindOf(workItem(key, { started: 1, dueAt: now - 1_000 }))).toBe("drop");
  });

  test("runs an object that is due by the time in the message, whatever its reader's clock says", () => {
    const item = workItem(key, { started: 1, dueAt: now + 300_000 });
    expect(kindOf(item, { wakeUp: { ...plain, dueAt: now + 300_000 } })).toBe("run");
    expect(kindOf(item, { wakeUp: { ...plain, dueAt: now - 1 } })).toBe("drop");
  });

  test("is sent again, with the lease that it found, if another handler holds the lease", () => {
    const item = workItem(key, { token: 7, attempts: 1, lease: held });
    const wakeUp = { ...plain, held };
    expect(rules.onWakeUp(item, waking)).toEqual({ kind: "forward", wakeUp, delayMs: leaseMs });
    expect(kindOf(item, { wakeUp: { ...plain, held: { ...held, renewals: 1 } } })).toBe("forward");
    expect(kindOf(item, { wakeUp: { ...plain, held: { ...held, holder: "another" } } })).toBe("forward");
    expect(kindOf(item, { wakeUp })).toBe("readInput");
    expect(kindOf(item, { wakeUp, input: "a" })).toBe("run");
  });

  test("takes over the lease of a dead holder, and records that the run may have killed its process", () => {
    const item = workItem(key, { token: 7, attempts: 1, lease: held });
    expect(rules.onWakeUp(item, { ...waking, wakeUp: { ...plain, held }, input: "a" })).toMatchObject({
      kind: "run",
      item: { token: 8, lease: { holder: "me", renewals: 0 }, attempts: 2, died: true, input: "a" },
    });
  });

  test("delays a dead run whose back-off is longer than the time it took to find it dead", () => {
    const item = workItem(key, { token: 7, attempts: 9, lease: held, input: "a" });
    const wakeUp = { ...plain, held };
    const freed = { ...item, lease: undefined, wakeUntil: undefined, dueAt: now + attemptBackOffMs(9), died: true };
    for (const input of ["a", null]) {
      const decision = rules.onWakeUp({ ...item, wakeUntil: now - 1 }, { ...waking, wakeUp, input });
      expect(decision).toEqual({ kind: "writeOnly", wait: true, item: freed });
    }
    expect(rules.onWakeUp(item, { ...waking, wakeUp, input: "b" })).toMatchObject({
      kind: "run",
      item: { attempts: 1, input: "b" },
    });
  });

  const backingOff = workItem(key, { requested: 2, started: 1, attempts: 3, input: "a", dueAt: now + 9_000 });

  test("during a back-off waits for its end, unless the input has changed", () => {
    expect(kindOf(backingOff)).toBe("readInput");
    expect(rules.onWakeUp({ ...backingOff, wakeUntil: now }, { ...waking, input: "a" })).toEqual({
      kind: "writeOnly",
      wait: false,
      item: { ...backingOff, started: 2, wakeUntil: undefined },
    });
    expect(rules.onWakeUp(backingOff, { ...waking, input: "b" })).toMatchObject({
      kind: "run",
      item: { attempts: 1, input: "b" },
    });
    expect(kindOf(backingOff, { input: null })).toBe("drop");
  });

  test("during a back-off stores the input if none was known yet, which does not count as a change", () => {
    const { input: _, ...unlooked } = backingOff;
    expect(rules.onWakeUp({ ...unlooked, input: undefined }, { ...waking, input: "a" })).toMatchObject({
      kind: "writeOnly",
      item: { attempts: 3, input: "a" },
    });
  });

  test("at the end of a back-off runs, and keeps the known input if it cannot be read", () => {
    const wakeUp = { ...plain, dueAt: now + 9_000 };
    expect(rules.onWakeUp(backingOff, { ...waking, wakeUp, input: null })).toMatchObject({
      kind: "run",
      item: { attempts: 4, input: "a", dueAt: undefined },
    });
  });

  test(`parks the object after ${maxAttempts} attempts, and finally without sending its user an event`, () => {
    const wakeUp = { ...plain, dueAt: 5 };
    const failing = (attempts: number) => workItem(key, { started: 1, attempts, input: "a", dueAt: 5 });
    expect(kindOf(failing(maxAttempts - 1), { wakeUp, input: "a" })).toBe("run");
    const decide = (attempts: number) => rules.onWakeUp(failing(attempts), { ...waking, wakeUp, input: "a" });
    expect(decide(maxAttempts)).toMatchObject({ kind: "park", announce: true, item: { attempts: maxAttempts + 1 } });
    expect(decide(maxAttempts + 2)).toMatchObject({ kind: "park", announce: true });
    expect(decide(maxAttempts + 3)).toMatchObject({ kind: "park", announce: false });
  });

  test("leaves a parked object alone until its input changes, and checks again in an hour", () => {
    const parked = workItem(key, { requested: 5, started: 4, phase: "Poisoned", attempts: 13, input: "a" });
    expect(rules.onWakeUp({ ...parked, wakeUntil: now }, { ...waking, input: "a" })).toEqual({
      kind: "writeOnly",
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

  test("that is due leaves a parked object alone as well: only a changed input runs it", () => {
    const parked = workItem(key, { started: 1, phase: "Poisoned", attempts: 13, input: "a", dueAt: 5 });
    expect(kindOf(parked, { wakeUp: { ...plain, dueAt: 5 }, input: "a" })).toBe("writeOnly");
  });
});

describe("the sweep", () => {
  test("wakes items past wakeUntil or dueAt, tells which are due, and moves them out of the index", () => {
    expect(rules.onSweep(workItem(key, { wakeUntil: now + 1, dueAt: now - 1 }), now)).toBeUndefined();
    expect(rules.onSweep(workItem(key), now)).toBeUndefined();
    const woken = rules.onSweep(workItem(key, { dueAt: now }), now);
    expect(woken?.wakeUp).toEqual({ ...plain, dueAt: now });
    expect(woken === undefined ? 0 : overdueAt(woken.item)).toBe(now + wakeMs);
    expect(rules.onSweep(workItem(key, { wakeUntil: now, dueAt: now + 1 }), now)?.wakeUp).toEqual(plain);
  });
});

describe("a failed call to the table", () => {
  test.for([
    { name: "is tried again a few times", faults: 4, inDoubt: false, hasTime: false, again: true },
    { name: "is given up at last", faults: 5, inDoubt: false, hasTime: true, again: false },
    {
      name: "is given up in the end if the caller cannot wait for its result",
      faults: 5,
      inDoubt: true,
      hasTime: false,
      again: false,
    },
    {
      name: "is tried for as long as there is time if it may have taken a lease",
      faults: 99,
      inDoubt: true,
      hasTime: true,
      again: true,
    },
  ])("$name", ({ again, ...call }) => {
    expect(rules.tryAgain(call)).toBe(again);
  });
});
