import { describe, expect, test } from "vitest";
import type { Flow } from "../../../lib/core/ports/run.ts";
import type { WakeUp } from "../../../lib/core/ports/wake-ups.ts";
import type { WorkItems } from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey, parseWorkKey } from "../../../lib/core/work-key.ts";
import { runPlaces } from "../../../lib/queue/run-places.ts";
import { sweep, voidLeases } from "../../../lib/queue/sweep.ts";
import { maxAttempts, wakeMs } from "../../../lib/queue/timing.ts";
import { keyOf, never, workItem } from "../../contract/state-back-end.ts";
import { key, queueWorld } from "./queue-world.ts";

describe("voidLeases", () => {
  test("counts the death of a process against an object that ran alone in it, and makes the others run alone", async () => {
    const { deps, store, row } = queueWorld();
    const lease = { holder: "dead", renewals: 9 };
    store(workItem(key, { started: 1, attempts: 3, died: true, lease, wakeUntil: 9e9 }));
    await voidLeases(deps, never);
    expect(row()).toMatchObject({ lease: undefined, attempts: 3, died: true });
    store(workItem(key, { started: 1, attempts: 3, died: false, lease, wakeUntil: 9e9 }));
    await voidLeases(deps, never);
    expect(row()).toMatchObject({ lease: undefined, attempts: 2, died: true });
  });

  test("an object that kills its process at each start is parked, whichever objects ran beside it the first time", async () => {
    const { deps, store, row, handle, told } = queueWorld();
    store(workItem(key, { requested: 1 }));
    let deaths = 0;
    for (; row()?.phase === "Active" && deaths < 20; deaths += 1) {
      // A process that dies says nothing any more.
      const dies: Flow = () => new Promise(() => undefined);
      const dueAt = row()?.dueAt;
      const process = { ...deps, runPlaces: runPlaces(deps.clock) };
      void handle(dies, { key: formatWorkKey(key), ...(dueAt === undefined ? {} : { dueAt }) }, never, process);
      await expect.poll(() => row()?.lease !== undefined || row()?.phase === "Poisoned").toBe(true);
      if (told.length === 0) await voidLeases(deps, never);
    }
    expect([deaths, told.length]).toEqual([maxAttempts + 2, 1]);
  });

  test("releases and wakes the objects that earlier processes held, and counts no attempt", async () => {
    const { deps, sent, store, row, handle } = queueWorld();
    store(workItem(key, { started: 1, token: 5, attempts: 3, lease: { holder: "dead", renewals: 9 }, wakeUntil: 9e9 }));
    store(workItem(keyOf("idle"), { started: 1 }));
    expect(await voidLeases(deps, never)).toBe(1);
    expect(row()).toMatchObject({ lease: undefined, attempts: 2, token: 5 });
    expect(sent).toHaveLength(1);
    let runs = 0;
    for (const { wakeUp } of sent) {
      await handle(async () => {
        runs += 1;
        return { outcome: "applied", dueInMs: undefined };
      }, wakeUp);
    }
    expect([runs, row()?.token]).toEqual([1, 6]);
  });
});

describe("sweep", () => {
  test("an item counts how many sweeps have woken it since its last run began", async () => {
    const { deps, store, row, handle, sent } = queueWorld();
    for (const woken of [undefined, 7]) {
      store(workItem(key, { ...row(), version: (row()?.version ?? 0) + 1, started: 1, dueAt: 5, woken }));
      await sweep(deps, never);
      expect(row()?.woken).toBe((woken ?? 0) + 1);
      await handle(async () => ({ outcome: "applied", dueInMs: undefined }), sent.at(-1)?.wakeUp ?? { key: "" });
      expect([row()?.woken, row()?.dueAt]).toEqual([undefined, undefined]);
    }
  });

  test("wakes all overdue objects once, however many pages there are", async () => {
    const { deps, sent, store } = queueWorld();
    for (let index = 0; index < 250; index += 1) store(workItem(keyOf(`o${index}`), { started: 1, dueAt: 5 }));
    expect(await sweep(deps, never)).toBe(250);
    expect(new Set(sent.map(({ wakeUp }) => wakeUp.key)).size).toBe(250);
    expect(await sweep(deps, never)).toBe(0);
  });

  /** Items of a cluster, the longest overdue of all. */
  const overdueOf = (cluster: string, count: number) =>
    Array.from({ length: count }, (_, number) =>
      workItem({ ...keyOf(`o${number}`), cluster }, { started: 1, dueAt: 5 }),
    );
  const clustersOf = (sent: readonly { readonly wakeUp: WakeUp }[]): Record<string, number> => {
    const byCluster = Map.groupBy(sent, ({ wakeUp }) => parseWorkKey(wakeUp.key).cluster);
    return Object.fromEntries([...byCluster].map(([cluster, { length }]): [string, number] => [cluster, length]));
  };

  test("ten thousand items of a cluster that must not be woken hide none of another cluster, and stay unchanged", async () => {
    const { deps, sent, store } = queueWorld();
    for (const item of [...overdueOf("dead", 10_000), ...overdueOf("alive", 150)]) store(item);
    const none = { atMost: 0, perSecond: 1 };
    const all = { atMost: 1_000, perSecond: 1_000 };
    expect(await sweep(deps, never, (cluster) => (cluster === "dead" ? none : all))).toBe(150);
    expect(clustersOf(sent)).toEqual({ alive: 150 });
    expect(await sweep(deps, never, () => ({ atMost: 1_200, perSecond: 20 }))).toBe(1_200);
    expect(clustersOf(sent)).toEqual({ alive: 150, dead: 1_200 });
  });

  test("wakes at most as many objects of a cluster as its budget per second, and counts each for the same time", async () => {
    const { deps, sent, store } = queueWorld();
    for (const item of [...overdueOf("big", 250), ...overdueOf("small", 3)]) store(item);
    await sweep(deps, never, () => ({ atMost: 108, perSecond: 4 }));
    expect(clustersOf(sent)).toEqual({ big: 108, small: 3 });
    const big = sent.filter(({ wakeUp }) => wakeUp.key.startsWith("big/"));
    const bySecond = Map.groupBy(big, ({ delayMs }) => delayMs);
    expect([...bySecond.keys()].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 27 }, (_, second) => second * 1_000),
    );
    expect([...bySecond.values()].map(({ length }) => length)).toEqual(Array(27).fill(4));
    for (const { wakeUp, delayMs } of sent) {
      const item = await deps.items.get(parseWorkKey(wakeUp.key), never);
      expect(item?.wakeUntil).toBe(deps.clock.now() + delayMs + wakeMs);
    }
  });

  test("a sweep that takes too long stops after a page, and the next one continues", async () => {
    const { deps, freeze, store } = queueWorld();
    for (const item of overdueOf("big", 250)) store(item);
    const put: WorkItems["put"] = (item, signal) => {
      freeze(500);
      return deps.items.put(item, signal);
    };
    expect(await sweep({ ...deps, items: { ...deps.items, put } }, never)).toBe(100);
    expect(await sweep(deps, never)).toBe(150);
  });

  test("an error of one object does not stop the others", async () => {
    const { deps, sent, store } = queueWorld();
    for (const name of ["a", "b", "c"]) store(workItem(keyOf(name), { started: 1, dueAt: 5 }));
    const put: WorkItems["put"] = (item, signal) =>
      item.key.name === "b" ? Promise.reject(new Error("throttled")) : deps.items.put(item, signal);
    expect(await sweep({ ...deps, items: { ...deps.items, put } }, never)).toBe(2);
    expect(sent).toHaveLength(2);
  });
});
