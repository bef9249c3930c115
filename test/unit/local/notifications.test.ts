import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import type { Notification } from "../../../lib/notify/notification.ts";
import { startNotifications } from "../../../local/notifications.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { kustomizationEvent } from "../notify/sample-events.ts";

function notification(message: string, provider = "chat"): Notification {
  return {
    cluster: "here",
    alert: { namespace: "retail", name: "alert" },
    provider: { namespace: "retail", name: provider },
    eventKey: message,
    event: kustomizationEvent({ message }),
  };
}

/** Deliveries that end when the test says so. */
function world(faults: number[] = []) {
  const stopped = new AbortController();
  const begun: string[] = [];
  const waits: number[] = [];
  const open = new Map<string, () => void>();
  const log = recordedLog();
  const notifications = startNotifications(
    {
      async deliver({ event }) {
        begun.push(event.message);
        if (faults.shift() === 1) throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer" });
        const { promise, resolve } = Promise.withResolvers<void>();
        open.set(event.message, resolve);
        await promise;
      },
      clock: { monotonic: () => 0, sleep: async (ms) => void waits.push(ms) },
      log,
    },
    stopped.signal,
  );
  const add = (...given: readonly Notification[]) => notifications.add(given, new AbortController().signal);
  const settled = () => new Promise((done) => setImmediate(done));
  return {
    add,
    begun,
    log,
    waits,
    stopped,
    ended: () => notifications.ended(),
    settled,
    finish: async (message: string): Promise<void> => {
      open.get(message)?.();
      await settled();
    },
  };
}

describe("the notifications of sluice local", () => {
  test("for one Provider are delivered one after the other, those for different Providers in parallel", async () => {
    const { add, begun, finish, settled } = world();
    await add(notification("one"), notification("two"), notification("other", "mail"));
    await settled();
    expect(begun).toEqual(["one", "other"]);
    await finish("one");
    expect(begun).toEqual(["one", "other", "two"]);
    await finish("two");
    await add(notification("three"));
    await settled();
    expect(begun).toEqual(["one", "other", "two", "three"]);
  });

  test("are retried with growing delay if the cluster does not answer, and then given up", async () => {
    const one = world([1, 1, 0]);
    await one.add(notification("one"));
    await one.settled();
    expect([one.begun, one.waits]).toEqual([
      ["one", "one", "one"],
      [1_000, 2_000],
    ]);
    const lost = world([1, 1, 1, 1, 1, 1, 0]);
    await lost.add(notification("one"), notification("two"));
    await lost.settled();
    expect(lost.begun).toEqual([...Array.from({ length: 6 }, () => "one"), "two"]);
    expect(JSON.stringify(lost.log.lines)).toContain("notification not handled");
  });

  test("are limited in number for a Provider that is slower than its events", async () => {
    const { add, begun, finish, log, settled } = world();
    await add(...Array.from({ length: 10_003 }, (_, index) => notification(String(index))));
    await settled();
    expect(begun).toEqual(["0"]);
    const dropped = log.lines.filter((line) => JSON.stringify(line).includes("too many wait"));
    expect(dropped).toHaveLength(2);
    await finish("0");
    expect(begun).toEqual(["0", "1"]);
  });

  test("that wait are dropped when the process ends, after the current delivery", async () => {
    const { add, begun, ended, finish, settled, stopped } = world();
    await add(notification("one"), notification("two"));
    await settled();
    stopped.abort(new Error("the process ends"));
    let isEnded = false;
    const end = ended().then(() => {
      isEnded = true;
    });
    await settled();
    expect(isEnded).toBe(false);
    await finish("one");
    await end;
    await add(notification("three"));
    await settled();
    expect(begun).toEqual(["one"]);
  });
});
