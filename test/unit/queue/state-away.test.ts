import { describe, expect, test } from "vitest";
import type { Flow } from "../../../lib/core/ports/run.ts";
import type { WorkItems } from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { requestReconcile } from "../../../lib/queue/request-reconcile.ts";
import { leaseMs, renewEveryMs } from "../../../lib/queue/timing.ts";
import { never } from "../../contract/state-back-end.ts";
import { applied, key, queueWorld } from "./queue-world.ts";

describe("an outage of the state store does not count as an attempt of the object", () => {
  /** A world whose table is out of reach from `away()` on, until it was asked in vain `times` times. */
  function cutOffWorld() {
    const self = queueWorld();
    let left = 0;
    const reach = async <Result>(call: () => Promise<Result>): Promise<Result> => {
      left -= 1;
      if (left >= 0) throw new Error("the table is away");
      return call();
    };
    const { items: rows } = self.deps;
    const items: typeof rows = {
      ...rows,
      get: (...args) => reach(() => rows.get(...args)),
      put: (...args) => reach(() => rows.put(...args)),
    };
    const away = (times: number): void => {
      left = times;
    };
    return { ...self, away, left: () => left, deps: { ...self.deps, items } };
  }

  test("and the end of a run is retried until the table accepts it, however long that takes", async () => {
    const { deps, away, handle, row, sent } = cutOffWorld();
    await requestReconcile(key, "test", deps, never);
    await handle(
      async () => {
        away(100);
        return { outcome: "applied", dueInMs: 5_000 };
      },
      undefined,
      never,
      deps,
    );
    expect(row()).toMatchObject({ lease: undefined, handled: 1, attempts: 0 });
    expect(sent.at(-1)?.wakeUp).toEqual({ key: formatWorkKey(key), dueAt: row()?.dueAt });
  });

  test("but not longer than the handler's time, and then the message is delivered again", async () => {
    const { deps, away, left, handle } = cutOffWorld();
    await requestReconcile(key, "test", deps, never);
    const invocation = new AbortController();
    const flow: Flow = async () => {
      away(1_000);
      return { outcome: "applied", dueInMs: undefined };
    };
    const get: WorkItems["get"] = (...args) => {
      if (left() === 900) invocation.abort(new Error("time is up"));
      return deps.items.get(...args);
    };
    const timed = { ...deps, items: { ...deps.items, get } };
    await expect(handle(flow, undefined, invocation.signal, timed)).rejects.toThrow("the table is away");
    expect(left()).toBeLessThan(900);
    expect(left()).toBeGreaterThan(890);
  });

  test("and a lease that was taken without an answer is handed back if its time was over before the handler knew", async () => {
    const { deps, away, handle, row } = cutOffWorld();
    await requestReconcile(key, "test", deps, never);
    let runs = 0;
    const flow: Flow = async () => {
      runs += 1;
      return { outcome: "applied", dueInMs: undefined };
    };
    const put: WorkItems["put"] = async (item, signal) => {
      const answer = await deps.items.put(item, signal);
      if (item.token !== 1 || item.lease === undefined) return answer;
      away(100);
      throw new Error("no answer");
    };
    await handle(flow, undefined, never, { ...deps, items: { ...deps.items, put } });
    expect(runs).toBe(0);
    expect(row()).toMatchObject({ lease: undefined, attempts: 0, dueAt: expect.any(Number) });
  });

  test("and a message that cannot reach the table from the start gives up soon, because nothing depends on it", async () => {
    const { deps, away, left, handle, row } = cutOffWorld();
    await requestReconcile(key, "test", deps, never);
    away(1_000);
    await expect(handle(applied, undefined, never, deps)).rejects.toThrow("the table is away");
    expect(left()).toBe(995);
    expect(row()).toMatchObject({ attempts: 0, lease: undefined });
  });

  test("and a run whose lease could not be renewed hands it back and is not counted", async () => {
    const { deps, away, handle, row, skip } = cutOffWorld();
    await requestReconcile(key, "test", deps, never);
    const flow: Flow = async (run) => {
      away(1_000);
      await skip(renewEveryMs);
      await skip(leaseMs);
      away(0);
      run.assertLease();
      return { outcome: "applied", dueInMs: undefined };
    };
    await handle(flow, undefined, never, deps);
    expect(row()).toMatchObject({ lease: undefined, attempts: 0, handled: 0, dueAt: expect.any(Number) });
  });

  test("but a run whose process froze by itself does count", async () => {
    const { deps, freeze, handle, row } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    const flow: Flow = async (run) => {
      freeze(leaseMs);
      run.assertLease();
      return { outcome: "applied", dueInMs: undefined };
    };
    await handle(flow);
    expect(row()).toMatchObject({ lease: undefined, attempts: 1 });
  });
});
