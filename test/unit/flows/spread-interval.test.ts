import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { minIntervalMs } from "../../../lib/api/fields.ts";
import { spreadInterval } from "../../../lib/flows/spread-interval.ts";

describe("the interval of one run", () => {
  test("of 10m lies between 9m30s and 10m30s (13)", () => {
    expect([0, 0.5, 1].map((random) => spreadInterval(600_000, random))).toEqual([570_000, 600_000, 630_000]);
  });

  test("is never further than a twentieth from the one that was asked for", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2_000, max: 86_400_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (ms, random) => {
          expect(Math.abs((spreadInterval(ms, random) ?? Infinity) - ms)).toBeLessThanOrEqual(Math.ceil(ms / 20));
        },
      ),
    );
  });

  test("of 0s is none: nothing runs without being asked to", () => {
    expect(spreadInterval(0, 0.5)).toBeUndefined();
  });

  test("is never shorter than a second, whatever was asked for", () => {
    const short = [1, minIntervalMs - 1, minIntervalMs].map((ms) => spreadInterval(ms, 0));
    expect(short).toEqual(short.map(() => minIntervalMs));
    expect(spreadInterval(minIntervalMs + 100, 0)).toBe(1_045);
  });
});
