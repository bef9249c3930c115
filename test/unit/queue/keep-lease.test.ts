import { expect, test } from "vitest";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import type { WorkItems } from "../../../lib/core/ports/work-items.ts";
import { instant } from "../../../lib/queue/change-item.ts";
import { type ExtendVisibility, keepLease } from "../../../lib/queue/keep-lease.ts";
import { leaseMs, marginMs, renewEveryMs } from "../../../lib/queue/timing.ts";
import { never, workItem } from "../../contract/state-back-end.ts";
import { key, queueWorld } from "./queue-world.ts";

/** A lease that is kept since now, on a table of which the test may change the writes. */
function keptLease(extend: ExtendVisibility = async () => undefined) {
  const world = queueWorld();
  const { deps, store } = world;
  let put: WorkItems["put"] = (...args) => deps.items.put(...args);
  const taken = workItem(key, { token: 1, started: 1, lease: { holder: "h", renewals: 0 }, wakeUntil: leaseMs });
  store(taken);
  const items = { ...deps.items, put: ((...args) => put(...args)) satisfies WorkItems["put"] };
  const lease = keepLease(taken, instant(deps), extend, { ...deps, items }, never);
  const onPut = (with_: WorkItems["put"]): void => {
    put = with_;
  };
  return { ...world, lease, onPut };
}

test("a lease counts from before its renewal is sent, however late the answer comes", async () => {
  const { deps, lease, onPut, skip, freeze, row } = keptLease();
  onPut(async (item, signal) => {
    const answer = await deps.items.put(item, signal);
    freeze(20_000);
    return answer;
  });
  await skip(renewEveryMs);
  expect(row()?.lease?.renewals).toBe(1);
  freeze(leaseMs - marginMs - 20_000 - 1);
  expect(() => lease.assert()).not.toThrow();
  freeze(1);
  expect(() => lease.assert()).toThrow(LeaseLost);
  await lease.stop();
});

test("a lease is renewed even if the queue does not answer", async () => {
  const neverHidden: ExtendVisibility = (_, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  const { lease, skip, row } = keptLease(neverHidden);
  await skip(renewEveryMs);
  await skip(renewEveryMs);
  expect(row()?.lease?.renewals).toBe(2);
  await lease.stop();
});

test("the received message is hidden for the length of a lease, at once and with every renewal", async () => {
  const hidden: number[] = [];
  const { lease, skip } = keptLease(async (ms) => void hidden.push(ms));
  expect(hidden).toEqual([leaseMs]);
  await skip(renewEveryMs);
  expect(hidden).toEqual([leaseMs, leaseMs]);
  await lease.stop();
});
