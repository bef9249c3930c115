import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { type MessageQueue, sqliteMessageQueue } from "../../../../local/state/message-queue.ts";
import { openStateDatabase, type StateDatabase } from "../../../../local/state/state-database.ts";

const minute = 60_000;

let database: StateDatabase;
let wall: number;
let monotonic: number;
beforeEach(() => {
  database = openStateDatabase(":memory:");
  [wall, monotonic] = [1_790_000_000_000, 5_000];
});
afterEach(() => database.close());

/** The queue as a process that starts now opens it. */
function open(): MessageQueue {
  return sqliteMessageQueue(database, { ...systemClock, now: () => wall, monotonic: () => monotonic });
}

/** Time that passes on every clock. */
function pass(ms: number): void {
  wall += ms;
  monotonic += ms;
}

/** The end of a process and the start of another: its monotonic clock begins anew. */
function restart(afterMs: number): MessageQueue {
  wall += afterMs;
  monotonic = 0;
  return open();
}

function bodies(queue: MessageQueue): readonly string[] {
  return queue.receive(10, minute).map(({ body }) => body);
}

describe("a message delay is measured with the monotonic clock", () => {
  test.each([
    ["forward by two minutes", 2 * minute],
    ["back by two minutes", -2 * minute],
    ["back by twenty minutes", -20 * minute],
    ["forward by a year", 365 * 24 * 60 * minute],
  ])("if the wall clock steps %s", (_step, byMs) => {
    const queue = open();
    queue.send("delayed", minute);
    wall += byMs;
    expect(queue.nextVisibleInMs()).toBe(minute);
    pass(minute - 1);
    expect(bodies(queue)).toEqual([]);
    pass(1);
    expect(bodies(queue)).toEqual(["delayed"]);
  });

  test("and so is the time for which a received message is hidden", () => {
    const queue = open();
    queue.send("in hand", 0);
    const [message] = queue.receive(1, minute);
    wall += 2 * minute;
    expect(bodies(queue)).toEqual([]);
    pass(minute - 1);
    queue.hide(message ?? { id: "", receives: 0 }, minute);
    wall -= 20 * minute;
    expect(bodies(queue)).toEqual([]);
    pass(minute);
    expect(bodies(queue)).toEqual(["in hand"]);
  });
});

test("a message that was received again is hidden only by its latest reader", () => {
  const queue = open();
  queue.send("slow", 0);
  const [first] = queue.receive(1, minute);
  pass(minute);
  const [second] = queue.receive(1, minute);
  queue.hide(first ?? { id: "", receives: 0 }, 10 * minute);
  expect(queue.nextVisibleInMs()).toBe(minute);
  queue.hide(second ?? { id: "", receives: 0 }, 2 * minute);
  expect(queue.nextVisibleInMs()).toBe(2 * minute);
});

test("a new process finds the received messages of the one before at once, also those hidden for longer", () => {
  const before = open();
  before.send("in hand", 0);
  const [message] = before.receive(1, minute);
  before.hide(message ?? { id: "", receives: 0 }, 10 * minute);
  expect(bodies(restart(0))).toEqual(["in hand"]);
});

describe("a new process finds a delayed message", () => {
  test.each([
    { name: "and waits for the rest of its delay", afterMs: 20_000, leftMs: 40_000 },
    { name: "whose time has come", afterMs: 2 * minute, leftMs: 0 },
    {
      name: "and waits at most its whole delay if the wall clock went back",
      afterMs: -5 * minute,
      leftMs: minute,
    },
    { name: "and does so wherever the wall clock went", afterMs: -20 * minute, leftMs: minute },
  ])("$name", ({ afterMs, leftMs }) => {
    open().send("delayed", minute);
    const queue = restart(afterMs);
    expect(queue.nextVisibleInMs()).toBe(leftMs);
    pass(leftMs);
    expect(bodies(queue)).toEqual(["delayed"]);
  });

  test("by the time that the process before it measured, even if its wall clock was stepped", () => {
    const before = open();
    wall += 10 * minute;
    pass(10_000);
    before.send("delayed", minute);
    const queue = restart(0);
    expect(queue.nextVisibleInMs()).toBe(minute);
  });

  test("of an earlier release, without a stored delay, after at most the longest delay", () => {
    const insert = database.connection.prepare("INSERT INTO messages (body, visible_at) VALUES (?, ?)");
    insert.run("soon", wall + minute);
    insert.run("far", wall + 16 * minute);
    const queue = open();
    expect(bodies(queue)).toEqual(["far"]);
    pass(minute - 1);
    expect(bodies(queue)).toEqual([]);
    pass(1);
    expect(bodies(queue)).toContain("soon");
  });
});
