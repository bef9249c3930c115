import { describe, expect, test } from "vitest";
import { inTurns } from "../../../lib/core/in-turns.ts";
import { maxIgnoringMs } from "../../../lib/sources/archive/archive-tree.ts";

const forever = new AbortController().signal;

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe("work in turns", () => {
  test("reaches every item, and lets others have the thread in between", async () => {
    const seen: number[] = [];
    let turns = 0;
    const others = setInterval(() => turns++, 1);
    const work = (item: number): void => {
      seen.push(item);
      busy(5);
    };
    expect(await inTurns([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], work, maxIgnoringMs, forever)).toBe(true);
    clearInterval(others);
    expect(seen).toHaveLength(10);
    expect(turns).toBeGreaterThan(0);
  });

  test("ends with the item that takes it past its time", async () => {
    let worked = 0;
    const work = (): void => {
      worked++;
      busy(15);
    };
    expect(await inTurns([1, 2, 3, 4, 5], work, 29, forever)).toBe(false);
    expect(worked).toBeLessThanOrEqual(2);
  });

  test("ends between two turns with the run that it belongs to", async () => {
    const stop = new AbortController();
    const work = (): void => {
      stop.abort(new Error("enough"));
      busy(25);
    };
    await expect(inTurns([1, 2], work, maxIgnoringMs, stop.signal)).rejects.toThrow("enough");
  });
});
