import { describe, expect, test } from "vitest";
import { giveWayMs, processLock } from "../../../lib/queue/process-lock.ts";

const never = new AbortController().signal;

/** A lock whose waits end when the test says so, or when what they wait for is there. */
function lockWorld() {
  const sleepers = new Set<() => void>();
  const asked: number[] = [];
  const clocks: AbortSignal[] = [];
  const lock = processLock({
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
  const enter = (name: string, alone: boolean, signal = never) =>
    lock.enter(alone, signal).then(
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
  return { lock, enter, log, asked, clocks, turn, wakeAll };
}

describe("who may run in a process", () => {
  test("runs beside each other do not wait", () => {
    const { lock } = lockWorld();
    expect([lock.tryEnter(false), lock.tryEnter(false)].map((place) => place?.alone)).toEqual([false, false]);
  });

  test("one that is alone waits for the others, and they for it", async () => {
    const { lock, enter, log, turn } = lockWorld();
    const first = lock.tryEnter(false);
    expect(lock.tryEnter(true)).toBeUndefined();
    const alone = enter("alone", true);
    await turn();
    // Who comes later does not keep it from its turn.
    expect(lock.tryEnter(false)).toBeUndefined();
    void enter("later", false);
    await turn();
    expect(log).toEqual([]);
    first?.[Symbol.dispose]();
    const place = await alone;
    await turn();
    expect([place.alone, log]).toEqual([true, ["alone"]]);
    place[Symbol.dispose]();
    await turn();
    expect(log).toEqual(["alone", "later"]);
  });

  test("two that are alone never meet, however long one takes", async () => {
    const { lock, enter, log, turn, wakeAll } = lockWorld();
    const first = lock.tryEnter(true);
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

  test("one that is alone and the others give way to each other for a minute, not for ever", async () => {
    const { lock, enter, log, asked, turn, wakeAll } = lockWorld();
    lock.tryEnter(false);
    const alone = enter("alone", true);
    await turn();
    await wakeAll();
    expect(log).toEqual(["alone"]);
    void enter("other", false);
    await turn();
    expect(log).toEqual(["alone"]);
    await wakeAll();
    expect(log).toEqual(["alone", "other"]);
    expect(asked).toEqual([giveWayMs, giveWayMs]);
    expect((await alone).alone).toBe(true);
  });

  test("one that has its turn leaves no clock running that it waited by", async () => {
    const { lock, enter, clocks } = lockWorld();
    const first = lock.tryEnter(false);
    const alone = enter("alone", true);
    expect(clocks.map(({ aborted }) => aborted)).toEqual([false]);
    first?.[Symbol.dispose]();
    await alone;
    expect(clocks.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test.each(["behind one that is alone", "for others"])(
    "one that is stopped while it waits %s lets go",
    async (where) => {
      const { lock, enter, log, turn } = lockWorld();
      const before = lock.tryEnter(where !== "for others");
      const stop = new AbortController();
      const waiting = enter("stopped", true, stop.signal);
      await turn();
      stop.abort(new Error("time is up"));
      await expect(waiting).rejects.toThrow("time is up");
      before?.[Symbol.dispose]();
      expect(log).toEqual(["stopped: Error: time is up"]);
      expect(lock.tryEnter(true)?.alone).toBe(true);
    },
  );
});
