import { describe, expect, test } from "vitest";
import { giveWayMs, runPlaces } from "../../../lib/queue/run-places.ts";

const never = new AbortController().signal;

/** Places whose waits end when the test says so, or when the awaited place is free. */
function placesWorld() {
  const sleepers = new Set<() => void>();
  const asked: number[] = [];
  const clocks: AbortSignal[] = [];
  const places = runPlaces({
    now: () => 0,
    monotonic: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        asked.push(ms);
        clocks.push(signal);
        sleepers.add(resolve);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
  });
  const log: string[] = [];
  const enter = (name: string, exclusive: boolean, signal = never) =>
    places.enter(exclusive, signal).then(
      (place) => (log.push(name), place),
      (error: unknown) => {
        log.push(`${name}: ${String(error)}`);
        throw error;
      },
    );
  const turn = () =>
    new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  const wakeAll = () => {
    for (const wake of sleepers) wake();
    return turn();
  };
  return { places, enter, log, asked, clocks, turn, wakeAll };
}

describe("the places for runs in a process", () => {
  test("are shared by non-exclusive runs without waiting", () => {
    const { places } = placesWorld();
    expect([places.tryEnter(false), places.tryEnter(false)].map((place) => place?.exclusive)).toEqual([false, false]);
  });

  test("make an exclusive run wait for the others, and the others for it", async () => {
    const { places, enter, log, turn } = placesWorld();
    const first = places.tryEnter(false);
    expect(places.tryEnter(true)).toBeUndefined();
    const exclusive = enter("exclusive", true);
    await turn();
    // A later run does not take its turn.
    expect(places.tryEnter(false)).toBeUndefined();
    void enter("later", false);
    await turn();
    expect(log).toEqual([]);
    first?.[Symbol.dispose]();
    const place = await exclusive;
    await turn();
    expect([place.exclusive, log]).toEqual([true, ["exclusive"]]);
    place[Symbol.dispose]();
    await turn();
    expect(log).toEqual(["exclusive", "later"]);
  });

  test("never let two exclusive runs run at the same time, however long one takes", async () => {
    const { places, enter, log, turn, wakeAll } = placesWorld();
    const first = places.tryEnter(true);
    const [second] = [enter("second", true), enter("third", true)];
    await wakeAll();
    expect(log).toEqual([]);
    first?.[Symbol.dispose]();
    await turn();
    expect(log).toEqual(["second"]);
    (await second)[Symbol.dispose]();
    await turn();
    expect(log).toEqual(["second", "third"]);
  });

  test("limit the wait of exclusive and other runs for each other to one minute", async () => {
    const { places, enter, log, asked, turn, wakeAll } = placesWorld();
    places.tryEnter(false);
    const exclusive = enter("exclusive", true);
    await turn();
    await wakeAll();
    expect(log).toEqual(["exclusive"]);
    void enter("other", false);
    await turn();
    expect(log).toEqual(["exclusive"]);
    await wakeAll();
    expect(log).toEqual(["exclusive", "other"]);
    expect(asked).toEqual([giveWayMs, giveWayMs]);
    expect((await exclusive).exclusive).toBe(true);
  });

  test("leave no timer running after a run got its place", async () => {
    const { places, enter, clocks } = placesWorld();
    const first = places.tryEnter(false);
    const exclusive = enter("exclusive", true);
    expect(clocks.map(({ aborted }) => aborted)).toEqual([false]);
    first?.[Symbol.dispose]();
    await exclusive;
    expect(clocks.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test.each(["behind an exclusive run", "for others"])(
    "are given up by a run that is aborted while it waits %s",
    async (where) => {
      const { places, enter, log, turn } = placesWorld();
      const before = places.tryEnter(where !== "for others");
      const stop = new AbortController();
      const waiting = enter("stopped", true, stop.signal);
      await turn();
      stop.abort(new Error("time is up"));
      await expect(waiting).rejects.toThrow("time is up");
      before?.[Symbol.dispose]();
      expect(log).toEqual(["stopped: Error: time is up"]);
      expect(places.tryEnter(true)?.exclusive).toBe(true);
    },
  );
});
