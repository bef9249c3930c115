import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CanaryAnalysis } from "../../../lib/api/canary.ts";
import {
  boundOf,
  feasible,
  intervalMs,
  stepOf,
  strategyOf,
  thresholdOf,
  weightAfter,
} from "../../../lib/canary/analysis.ts";
import type { Routes } from "../../../lib/canary/routes/router.ts";
import { nextMove, nextToPrimary } from "../../../lib/canary/run/next-move.ts";

const primaryOnly: Routes = { primary: 100, canary: 0, isMirrored: false };

/** The weights of a whole analysis; undefined where there is no next step. */
function weightsOf(analysis: Partial<CanaryAnalysis>): readonly (number | undefined)[] {
  const weights: (number | undefined)[] = [];
  let routes = primaryOnly;
  for (let steps = 0; steps <= 200; steps++) {
    const at = { analysis: { interval: "10s", ...analysis }, provider: "istio", phase: "Progressing" } as const;
    const move = nextMove({ ...at, iterations: 0, routes });
    if (move.kind === "promote") return weights;
    if (move.kind !== "weight") return [...weights, undefined];
    ({ routes } = move);
    weights.push(routes.canary);
    expect(routes.primary + routes.canary).toBe(100);
  }
  throw new Error(`the analysis does not end: ${JSON.stringify(analysis)}`);
}

describe("an analysis", () => {
  test.each([
    ["1s", 10_000],
    ["10s", 10_000],
    ["1m", 60_000],
    ["1m30s", 90_000],
    ["1m and more", 60_000],
  ])("canary/24: an interval of %s is %i ms", (interval, ms) => {
    expect(intervalMs({ interval })).toBe(ms);
  });

  test("rolls back after one failed check if threshold is unset", () => {
    expect([thresholdOf({}), thresholdOf({ threshold: 0 }), thresholdOf({ threshold: 5 })]).toEqual([1, 1, 5]);
  });

  test("is A/B with conditions and iterations, blue/green with iterations, and otherwise by weights", () => {
    expect(strategyOf({ iterations: 1, match: [{}] })).toBe("ab");
    expect(strategyOf({ iterations: 1 })).toBe("blue-green");
    expect(strategyOf({ match: [{}] })).toBe("weighted");
  });

  test.each([
    ["canary/25: steps of 10 to 50", { stepWeight: 10, maxWeight: 50 }, [10, 20, 30, 40, 50]],
    ["canary/26: steps of 20 to 50, which go beyond it", { stepWeight: 20, maxWeight: 50 }, [20, 40, 60]],
    ["canary/27: stepWeights are absolute values", { stepWeights: [1, 2, 10, 80] }, [1, 2, 10, 80]],
    ["without maxWeight up to 100", { stepWeight: 40 }, [40, 80, 100]],
    [
      "stepWeight wins over stepWeights, whose last value stays the maximum",
      { stepWeight: 30, stepWeights: [5, 50] },
      [30, 60],
    ],
    ["a maximum above 100 of stepWeights becomes 100", { stepWeights: [60, 150] }, [60, 100]],
    ["a maxWeight above 100 becomes 100", { stepWeight: 50, maxWeight: 120 }, [50, 100]],
    ["no step at all", {}, [undefined]],
    ["descending stepWeights have no next step", { stepWeights: [50, 60, 20, 80] }, [50, 60, undefined]],
  ])("%s", (_name, analysis, weights) => {
    expect(weightsOf(analysis)).toEqual(weights);
  });

  test("property: for any steps the weights rise, stay within 100 and end", () => {
    const weight = fc.integer({ min: -5, max: 130 });
    const arbitrary = fc.record(
      { stepWeight: weight, maxWeight: weight, stepWeights: fc.array(weight, { maxLength: 6 }), mirror: fc.boolean() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(arbitrary, (analysis) => {
        const weights = weightsOf(analysis).filter((one) => one !== undefined);
        const copies = analysis.mirror === true ? 1 : 0;
        for (const [index, one] of weights.entries()) {
          expect(one).toBeGreaterThan(index < copies ? -1 : (weights[index - 1] ?? 0));
          expect(one).toBeLessThanOrEqual(100);
        }
      }),
    );
  });

  test("property: from any weight the next one, if there is one, is higher and within 100", () => {
    const weight = fc.integer({ min: 0, max: 100 });
    fc.assert(
      fc.property(weight, fc.array(weight, { maxLength: 6 }), fc.integer({ min: -5, max: 130 }), (at, steps, step) => {
        const analysis = { stepWeights: steps, stepWeight: step };
        const next = weightAfter(analysis, at);
        expect(next).toBeLessThanOrEqual(100);
        expect(next > at || stepOf(analysis, at) <= 0 || at === 100).toBe(true);
        expect(boundOf(analysis)).toBeLessThanOrEqual(100);
      }),
    );
  });

  test("property: promotion moves to the primary in steps that sum to 100, and ends", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), fc.integer({ min: -5, max: 130 }), (canary, step) => {
        let routes: Routes = { primary: 100 - canary, canary, isMirrored: false };
        for (let steps = 0; routes.canary > 0; steps++) {
          const next = nextToPrimary({ interval: "10s", stepWeightPromotion: step }, routes);
          expect(next.primary).toBeGreaterThan(routes.primary);
          expect(next.primary + next.canary).toBe(100);
          routes = next;
        }
      }),
    );
  });

  test("canary/32: without routing, an analysis by weights has ten iterations and ignores its match conditions", () => {
    const { analysis, warnings } = feasible({ interval: "10s", stepWeight: 10, match: [{}] }, "kubernetes");
    expect(analysis).toEqual({ interval: "10s", stepWeight: 10, iterations: 10 });
    expect(warnings).toHaveLength(3);
    expect(feasible({ interval: "10s", match: [{}] }, "istio")).toEqual({
      analysis: { interval: "10s", match: [{}] },
      warnings: [],
    });
  });
});
