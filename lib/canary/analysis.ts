import type { CanaryAnalysis } from "../api/canary.ts";
import { parseGoDuration } from "../core/go-duration.ts";

/** Both weights together, in percent. */
export const totalWeight = 100;

const defaultIntervalMs = 60_000;
const minIntervalMs = 10_000;

/** Period of the steps in milliseconds: at least ten seconds, and a minute if the text is not a duration (reference canary 2.3). */
export function intervalMs({ interval }: Pick<CanaryAnalysis, "interval">): number {
  return Math.max(minIntervalMs, Math.round(parsed(interval)));
}

function parsed(interval: string): number {
  try {
    return parseGoDuration(interval);
  } catch (error) {
    // As in Flagger: the schema looks at the beginning of the text only.
    if (error instanceof RangeError) return defaultIntervalMs;
    throw error;
  }
}

/** How many failed checks roll back: one unless the analysis says more. */
export function thresholdOf({ threshold = 0 }: Pick<CanaryAnalysis, "threshold">): number {
  return threshold > 0 ? threshold : 1;
}

/** How traffic comes to the canary (reference canary 6). */
export type Strategy = "ab" | "blue-green" | "weighted";

export function strategyOf({ iterations = 0, match = [] }: Pick<CanaryAnalysis, "iterations" | "match">): Strategy {
  if (iterations <= 0) return "weighted";
  return match.length > 0 ? "ab" : "blue-green";
}

/** The canary's weight at which it is promoted. In Flagger a `maxWeight` above 100 is never reached. */
export function boundOf({
  maxWeight = 0,
  stepWeights = [],
}: Pick<CanaryAnalysis, "maxWeight" | "stepWeights">): number {
  const bound = stepWeights.at(-1) ?? (maxWeight > 0 ? maxWeight : totalWeight);
  return Math.min(totalWeight, bound);
}

/** By how much the weight of the canary rises next; zero or less where the analysis has no next step. */
export function stepOf(
  { stepWeight = 0, stepWeights = [] }: Pick<CanaryAnalysis, "stepWeight" | "stepWeights">,
  weight: number,
): number {
  const [first] = stepWeights;
  if (stepWeight > 0 || first === undefined) return stepWeight;
  const most = totalWeight - weight;
  // The canary has all traffic and is promoted next, whatever the step: 0 would mean that there is no next step.
  if (most === 0) return 1;
  if (weight === 0) return Math.min(most, first);
  const next = stepWeights[stepWeights.indexOf(weight) + 1];
  // A weight that is not in the list goes to the total next, like the last one in it.
  return stepWeights.includes(weight) && next !== undefined ? Math.min(most, next - weight) : most;
}

/** The weight of the canary after its next step; it may overshoot the bound, never the total. */
export function weightAfter(analysis: Pick<CanaryAnalysis, "stepWeight" | "stepWeights">, weight: number): number {
  return Math.min(totalWeight, weight + stepOf(analysis, weight));
}

const iterationsWithoutRouting = 10;

/**
 * The analysis that a provider supports: without routing there are only iterations (reference canary 10).
 *
 * @returns the analysis with Warnings about its changes
 */
export function feasible(
  analysis: CanaryAnalysis,
  provider: string,
): { readonly analysis: CanaryAnalysis; readonly warnings: readonly string[] } {
  if (provider !== "kubernetes") return { analysis, warnings: [] };
  const { match = [], ...rest } = analysis;
  const isSet = (rest.iterations ?? 0) >= 1;
  return {
    analysis: isSet ? rest : { ...rest, iterations: iterationsWithoutRouting },
    warnings: [
      ...(match.length > 0 ? ["A/B testing is not supported when using the kubernetes provider"] : []),
      ...(isSet
        ? []
        : [
            "Progressive traffic is not supported when using the kubernetes provider",
            `Setting canaryAnalysis.iterations: ${iterationsWithoutRouting}`,
          ]),
    ],
  };
}
