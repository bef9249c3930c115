import { describe, expect, test } from "vitest";
import { mapLimit } from "../../../lib/core/map-limit.ts";

describe("mapLimit", () => {
  const { signal } = new AbortController();

  test("answers in the order of the items and never runs more than the limit at once", async () => {
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

  test("the first failure stops what has not begun and aborts what runs", async () => {
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
