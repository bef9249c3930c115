import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { minIntervalMs } from "../../../lib/api/fields.ts";
import { defaultTiming, shortIntervalWarning, spreadInterval } from "../../../lib/flows/interval.ts";

describe("the interval until the next run", () => {
  test("for 10m is between 9m30s and 10m30s (13)", () => {
    expect([0, 0.5, 1].map((random) => spreadInterval(600_000, random, defaultTiming))).toEqual([
      570_000, 600_000, 630_000,
    ]);
  });

  test("differs from the requested one by at most a twentieth", () => {
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

  test("varies as interval-jitter-percentage says", () => {
    const spread = (jitterPercentage: number) =>
      [0, 0.5, 1].map((random) => spreadInterval(600_000, random, { jitterPercentage }));
    expect(spread(0)).toEqual([600_000, 600_000, 600_000]);
    expect(spread(50)).toEqual([300_000, 600_000, 900_000]);
    expect(spread(99)).toEqual([6_000, 600_000, 1_194_000]);
  });

  test("for 0s is infinite: nothing runs without a request", () => {
    expect(spreadInterval(0, 0.5, defaultTiming)).toBeUndefined();
  });

  test("is at least one second, whatever the spec requests", () => {
    const short = [1, minIntervalMs - 1, minIntervalMs].map((ms) => spreadInterval(ms, 0, defaultTiming));
    expect(short).toEqual(short.map(() => minIntervalMs));
    expect(spreadInterval(minIntervalMs + 100, 0, defaultTiming)).toBe(1_045);
  });
});

const shortest = "is shorter than a second: it runs at most once a second";
test.each([
  { spec: { interval: "999ms" }, message: `spec.interval 999ms ${shortest}` },
  { spec: { interval: "1s" }, message: undefined },
  { spec: { interval: "0s" }, message: undefined },
  { spec: { interval: "1m", retryInterval: "5ms" }, message: `spec.retryInterval 5ms ${shortest}` },
  {
    spec: { interval: "1ms", retryInterval: "5ms" },
    message: `spec.interval 1ms and spec.retryInterval 5ms ${shortest}`,
  },
])("the warning about $spec is $message", ({ spec, message }) => {
  expect(shortIntervalWarning(spec, { generation: 1, conditions: [] })?.message).toBe(message);
});

const condition = (type: string, observedGeneration: number) => ({
  ...({ type, observedGeneration, status: "True", reason: "Succeeded", message: "" } as const),
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
test.each([
  { generations: [], isTold: true },
  { generations: [1], isTold: true },
  { generations: [2], isTold: false },
  { generations: [1, 2], isTold: false },
  { generations: [3], isTold: true },
])(
  "the warning for generation 2 is sent after conditions of generations $generations: $isTold",
  ({ generations, isTold }) => {
    const conditions = generations.map((generation, at) => condition(`Type${at}`, generation));
    expect(shortIntervalWarning({ interval: "1ms" }, { generation: 2, conditions }) !== undefined).toBe(isTold);
  },
);
