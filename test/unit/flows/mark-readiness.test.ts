import { describe, expect, test } from "vitest";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import { notReadyMs } from "../../../lib/core/ports/metrics.ts";
import type { ObservedResources } from "../../../lib/core/ports/observed-resources.ts";
import type { Flow, FlowResult, Run } from "../../../lib/core/ports/run.ts";
import { GateClosed } from "../../../lib/core/ports/write-gate.ts";
import { markReadiness } from "../../../lib/flows/mark-readiness.ts";
import { Shutdown } from "../../../lib/queue/run-under-lease.ts";
import { sqliteObservedResources } from "../../../local/state/observed-resources.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";

const key = keyOf("web");

/** Runs of one object on a virtual clock, each with what the one before carried. */
function marking() {
  const database = openStateDatabase(":memory:");
  const observed = sqliteObservedResources(database);
  const log = recordedLog();
  const writes: string[] = [];
  let now = 0;
  let isAway = false;
  let carried: Run["carried"];
  const clock: Clock = { now: () => now, monotonic: () => now, sleep: async () => undefined };
  const writing = async (name: string, write: () => Promise<void>): Promise<void> => {
    if (isAway) throw new Error("the table is away");
    writes.push(name);
    await write();
  };
  const deps = {
    ...{ clock, log },
    observed: {
      markNotReady: (...args: Parameters<ObservedResources["markNotReady"]>) =>
        writing("mark", () => observed.markNotReady(...args)),
      markReady: (...args: Parameters<ObservedResources["markReady"]>) =>
        writing("unmark", () => observed.markReady(...args)),
    },
  };
  const run = async (flow: Flow, own: Partial<Run> = {}): Promise<FlowResult> => {
    const given: Run = {
      ...{ key, carried, fence: { key, token: 1 }, signal: never, isRequested: true, isRetry: false },
      assertLease: () => {},
      superseded: async () => false,
      ...own,
    };
    const result = await markReadiness(flow, deps)(given);
    carried = result.carried;
    return result;
  };
  return {
    ...{ log, run, writes },
    ends: (outcome: string, own?: Partial<Run>) => run(async () => ({ outcome, dueInMs: 5 }), own),
    throws: (error: Error, own?: Partial<Run>) =>
      run(() => Promise.reject(error), own).catch((thrown: unknown) => thrown),
    pass: (ms: number) => void (now += ms),
    away: (away: boolean) => void (isAway = away),
    mark: async () => (await observed.list(key, never))[0]?.notReady,
    [Symbol.dispose]: () => database.close(),
  };
}

describe("the not-ready mark of an object", () => {
  test.each(["failed", "stalled", "unreachable"])(
    "is set once if the run ends %s, until a run succeeds",
    async (outcome) => {
      using world = marking();
      await world.ends(outcome);
      world.pass(60_000);
      await world.ends(outcome);
      expect([await world.mark(), world.writes]).toEqual([{ since: 0, outcome }, ["mark"]]);
      await world.ends("applied");
      expect([await world.mark(), world.writes]).toEqual([undefined, ["mark", "unmark"]]);
    },
  );

  test("costs no write for an object that is Ready, waits only briefly or was never marked", async () => {
    using world = marking();
    await world.ends("applied");
    await world.ends("waiting");
    world.pass(notReadyMs);
    await world.ends("waiting");
    await world.ends("applied");
    expect(world.writes).toEqual([]);
  });

  test("is set for an object that has waited for more than half an hour, with the time when the wait began", async () => {
    using world = marking();
    world.pass(1_000);
    await world.ends("waiting");
    world.pass(notReadyMs + 1);
    await world.ends("waiting");
    expect(await world.mark()).toEqual({ since: 1_000, outcome: "waiting" });
  });

  test("is not set for a suspended object", async () => {
    using world = marking();
    await world.ends("stalled");
    await world.ends("suspended");
    expect(await world.mark()).toBeUndefined();
  });

  test("is set if the run throws, and removed by the next run that succeeds", async () => {
    using world = marking();
    expect(await world.throws(new Error("a bug"))).toEqual(new Error("a bug"));
    expect(await world.mark()).toEqual({ since: 0, outcome: "error" });
    await world.ends("applied", { isRetry: true });
    expect(await world.mark()).toBeUndefined();
  });

  test("is not set if the run is aborted from outside or has lost its lease", async () => {
    using world = marking();
    await world.throws(new GateClosed("another owner"));
    await world.throws(new Error("stopped"), { signal: AbortSignal.abort(new Shutdown("the process ends")) });
    const assertLease = () => {
      throw new LeaseLost("another holds it");
    };
    await world.throws(new Error("late"), { assertLease });
    expect(world.writes).toEqual([]);
  });

  test("that could not be written or removed is left to the next run, and no run fails because of it", async () => {
    using world = marking();
    world.away(true);
    expect((await world.ends("stalled")).outcome).toBe("stalled");
    world.away(false);
    await world.ends("stalled");
    expect(await world.mark()).toEqual({ since: 0, outcome: "stalled" });
    world.away(true);
    expect((await world.ends("applied")).outcome).toBe("applied");
    world.away(false);
    await world.ends("applied");
    expect(await world.mark()).toBeUndefined();
    expect(world.log.lines).toHaveLength(2);
  });
});
