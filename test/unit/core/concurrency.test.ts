import { describe, expect, test } from "vitest";
import { allEnded, inTimeSlices, mapLimit } from "../../../lib/core/concurrency.ts";
import { maxIgnoringMs } from "../../../lib/sources/archive/archive-tree.ts";

const forever = new AbortController().signal;

describe("mapLimit", () => {
  const { signal } = new AbortController();

  test("returns results in the order of the items and never runs more than the limit at once", async () => {
    let running = 0;
    let most = 0;
    const results = await mapLimit(
      [5, 1, 4, 2, 3],
      2,
      async (item) => {
        most = Math.max(most, ++running);
        for (let turn = 0; turn < item; turn++) await Promise.resolve();
        running--;
        return item * 10;
      },
      signal,
    );
    expect(results).toEqual([50, 10, 40, 20, 30]);
    expect(most).toBe(2);
  });

  test("the first failure stops items that have not started and aborts running ones", async () => {
    const begun: number[] = [];
    let aborted = false;
    const work = async (item: number, stop: AbortSignal) => {
      begun.push(item);
      if (item === 1) throw new Error("no");
      await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve()));
      aborted = stop.aborted;
    };
    await expect(mapLimit([0, 1, 2, 3], 2, work, signal)).rejects.toThrow("no");
    expect(begun).toEqual([0, 1]);
    expect(aborted).toBe(true);
  });

  test("an aborted signal ends it with the signal's reason", async () => {
    const reason = new Error("time is up");
    await expect(mapLimit([1], 1, async () => 1, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

test("mapLimit throws the failure that came first, even if an aborted item fails too", async () => {
  const work = async (item: number, stop: AbortSignal) => {
    if (item === 1) throw new Error("first");
    await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve()));
    throw new Error("stopped");
  };
  await expect(mapLimit([0, 1, 2], 3, work, forever)).rejects.toThrow("first");
});

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe("inTimeSlices", () => {
  test("works on every item and lets other tasks run in between", async () => {
    const seen: number[] = [];
    let turns = 0;
    const others = setInterval(() => turns++, 1);
    const work = (item: number): void => {
      seen.push(item);
      busy(5);
    };
    expect(await inTimeSlices([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], work, maxIgnoringMs, forever)).toBe(true);
    clearInterval(others);
    expect(seen).toHaveLength(10);
    expect(turns).toBeGreaterThan(0);
  });

  test("stops after the item that exceeds the time limit", async () => {
    let worked = 0;
    const work = (): void => {
      worked++;
      busy(15);
    };
    expect(await inTimeSlices([1, 2, 3, 4, 5], work, 29, forever)).toBe(false);
    expect(worked).toBeLessThanOrEqual(2);
  });

  test("ends between two time slices if its run ends", async () => {
    const stop = new AbortController();
    const work = (): void => {
      stop.abort(new Error("enough"));
      busy(25);
    };
    await expect(inTimeSlices([1, 2], work, maxIgnoringMs, stop.signal)).rejects.toThrow("enough");
  });
});

test("allEnded returns every result in order", async () => {
  const later = Promise.withResolvers<string>();
  const all = allEnded([later.promise, Promise.resolve(2)]);
  later.resolve("one");
  expect(await all).toEqual(["one", 2]);
});

test("allEnded throws a failure only after the other promises have settled", async () => {
  const slow = Promise.withResolvers<void>();
  const seen: string[] = [];
  const all = allEnded([Promise.reject(new Error("refused")), slow.promise.then(() => seen.push("ended"))]);
  const thrown = all.catch((error: unknown) => seen.push(String(error)));
  await Promise.resolve();
  slow.resolve();
  await thrown;
  expect(seen).toEqual(["ended", "Error: refused"]);
});

test("allEnded throws the failure of the first promise in the list, whichever failed first", async () => {
  const slow = Promise.withResolvers<never>();
  const all = allEnded([slow.promise, Promise.reject(new Error("second"))]);
  slow.reject(new Error("first"));
  await expect(all).rejects.toThrow("first");
});
