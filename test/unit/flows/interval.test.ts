import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { minIntervalMs } from "../../../lib/api/fields.ts";
import { defaultTiming, spreadInterval } from "../../../lib/flows/interval.ts";

describe("the interval of one run", () => {
  test("of 10m lies between 9m30s and 10m30s (13)", () => {
    expect([0, 0.5, 1].map((random) => spreadInterval(600_000, random, defaultTiming))).toEqual([
      570_000, 600_000, 630_000,
    ]);
  });

  test("is never further than a twentieth from the requested one", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2_000, max: 86_400_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (ms, random) => {
          expect(Math.abs((spreadInterval(ms, random, defaultTiming) ?? Infinity) - ms)).toBeLessThanOrEqual(
            Math.ceil(ms / 20),
          );
        },
      ),
    );
  });

  test("is spread as far as interval-jitter-percentage says", () => {
    const spread = (jitterPercentage: number) =>
      [0, 0.5, 1].map((random) => spreadInterval(600_000, random, { jitterPercentage }));
    expect(spread(0)).toEqual([600_000, 600_000, 600_000]);
    expect(spread(50)).toEqual([300_000, 600_000, 900_000]);
    expect(spread(99)).toEqual([6_000, 600_000, 1_194_000]);
  });

  test("of 0s is none: nothing runs without a request", () => {
    expect(spreadInterval(0, 0.5, defaultTiming)).toBeUndefined();
  });

  test("is never shorter than a second, whatever was requested", () => {
    const short = [1, minIntervalMs - 1, minIntervalMs].map((ms) => spreadInterval(ms, 0, defaultTiming));
    expect(short).toEqual(short.map(() => minIntervalMs));
    expect(spreadInterval(minIntervalMs + 100, 0, defaultTiming)).toBe(1_045);
  });
});
