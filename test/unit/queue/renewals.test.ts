import { describe, expect, test } from "vitest";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import type { Flow, Run } from "../../../lib/core/ports/run.ts";
import type { WorkItems } from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { handleWakeUp } from "../../../lib/queue/handle-wake-up.ts";
import { requestReconcile } from "../../../lib/queue/request-reconcile.ts";
import { leaseMs, renewEveryMs } from "../../../lib/queue/timing.ts";
import { never } from "../../contract/state-back-end.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { key, queueWorld } from "./queue-world.ts";

const done = { outcome: "applied", dueInMs: undefined };

/** A queue whose only object is requested, and whose table refuses writes between `away()` and `back()`. */
async function leaseWorld() {
  const world = queueWorld();
  await requestReconcile(key, "test", world.deps, never);
  let isAway = false;
  let gets = 0;
  const { items } = world.deps;
  const put: WorkItems["put"] = (...args) =>
    isAway ? Promise.reject(new Error("the table is away")) : items.put(...args);
  const get: WorkItems["get"] = (...args) => ((gets += 1), items.get(...args));
  const log = recordedLog();
  const deps = { ...world.deps, log, items: { ...items, get, put } };
  return {
    ...world,
    run: (flow: Flow) => world.handle(flow, undefined, never, deps),
    away: () => {
      isAway = true;
    },
    back: () => {
      isAway = false;
    },
    gets: () => gets,
    warned: () => log.lines.map(({ message }) => message).filter((message) => message !== "reconcile finished"),
  };
}

describe("a lease", () => {
  test("is renewed as long as the run takes, by one write each time, without a log line", async () => {
    const { run, skip, row, gets, warned } = await leaseWorld();
    const seen: unknown[] = [];
    await run(async (held) => {
      for (let passed = 0; passed < 2 * leaseMs; passed += renewEveryMs) {
        await skip(renewEveryMs);
        held.assertLease();
        seen.push([row()?.lease?.renewals, held.signal.aborted]);
      }
      return done;
    });
    expect(seen).toEqual(Array.from({ length: 8 }, (_, index) => [index + 1, false]));
    expect(gets()).toBe(1);
    expect(row()).toMatchObject({ lease: undefined, handled: 1 });
    expect(warned()).toEqual([]);
  });

  test("that another handler has taken is lost at the next renewal: the run is aborted, naming the object", async () => {
    const { run, skip, row, store, sent } = await leaseWorld();
    let lost: unknown;
    await run(async ({ signal }) => {
      const item = row();
      if (item === undefined) throw new Error("no item");
      store({ ...item, version: item.version + 1, token: item.token + 1, lease: { holder: "other", renewals: 0 } });
      await skip(renewEveryMs);
      lost = signal.reason;
      signal.throwIfAborted();
      return done;
    });
    expect(lost).toBeInstanceOf(LeaseLost);
    expect(String(lost)).toContain("Kustomization/apps/web: another handler holds the lease, or may hold it");
    // The end writes nothing and sends nothing: all of it is the other's by now.
    expect(row()).toMatchObject({ lease: { holder: "other" }, attempts: 1 });
    expect(sent).toHaveLength(1);
  });

  test("survives one failed renewal; if none succeeds before another may take it, the run is aborted", async () => {
    const { run, skip, row, away, back } = await leaseWorld();
    const stopped: boolean[] = [];
    await run(async ({ signal }) => {
      away();
      await skip(renewEveryMs);
      stopped.push(signal.aborted);
      for (let passed = 0; passed < 4; passed += 1) await skip(renewEveryMs);
      stopped.push(signal.aborted);
      back();
      signal.throwIfAborted();
      return done;
    });
    expect(stopped).toEqual([false, true]);
    expect(row()).toMatchObject({ lease: undefined, attempts: 0 });
  });

  test("that was renewed again after a failure is lost if its own process is frozen", async () => {
    const { run, skip, freeze, row, away, back } = await leaseWorld();
    await run(async (held) => {
      away();
      await skip(renewEveryMs);
      back();
      await skip(renewEveryMs);
      freeze(leaseMs);
      held.assertLease();
      return done;
    });
    expect(row()).toMatchObject({ lease: undefined, attempts: 1 });
  });

  test("hides its message for its own length; that stops with the run, which waits for it", async () => {
    const { deps } = await leaseWorld();
    const hidden: number[] = [];
    const events: string[] = [];
    const extend = async (ms: number, signal: AbortSignal): Promise<void> => {
      hidden.push(ms);
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
      });
      events.push(`stopped: ${String(signal.reason)}`);
    };
    await handleWakeUp({ wakeUp: { key: formatWorkKey(key) }, extend }, async () => done, deps, never);
    events.push("handled");
    expect(hidden).toEqual([leaseMs]);
    expect(events).toEqual(["stopped: Error: the run has ended", "handled"]);
  });
});

describe("the check for a newer request", () => {
  const answers = async (change: (world: Awaited<ReturnType<typeof leaseWorld>>) => void): Promise<boolean> => {
    const world = await leaseWorld();
    let answer = false;
    await world.run(async (run) => {
      change(world);
      answer = await run.superseded();
      return done;
    });
    return answer;
  };

  test("does not find one if nothing has changed", async () => {
    expect(await answers(() => undefined)).toBe(false);
  });

  test("finds none for a run that has lost its lease", async () => {
    expect(
      await answers(({ row, store }) => {
        const item = row();
        if (item !== undefined) store({ ...item, version: item.version + 1, token: item.token + 1 });
      }),
    ).toBe(true);
  });

  test("tells a run that it was aborted", async () => {
    const { deps, handle, row } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    const invocation = new AbortController();
    const get: WorkItems["get"] = (of, signal) => {
      if (invocation.signal.aborted) return Promise.reject(new Error("no answer"));
      return deps.items.get(of, signal);
    };
    const flow = async (run: Run) => {
      invocation.abort(new Error("time is up"));
      await run.superseded();
      return done;
    };
    await handle(flow, undefined, invocation.signal, { ...deps, items: { ...deps.items, get } });
    expect(row()).toMatchObject({ attempts: 1, fault: "time is up" });
  });
});
