import type { Canary } from "../canary.ts";

/** One field of an alert, in addition to its message. */
export interface AlertField {
  readonly name: string;
  readonly value: string;
}

/** Target, threshold, deadline and traffic of a Canary, in Flagger's words (reference canary 13). Pure. */
export function alertFields({ analysis, namespace, spec }: Canary): readonly AlertField[] {
  const { targetRef, progressDeadlineSeconds = 600 } = spec;
  const threshold = analysis.threshold ?? 0;
  const routing = routingOf(analysis);
  return [
    { name: "Target", value: `${targetRef.kind}/${targetRef.name}.${namespace}` },
    { name: "Failed checks threshold", value: String(threshold > 0 ? threshold : 1) },
    { name: "Progress deadline", value: `${progressDeadlineSeconds}s` },
    ...(routing === undefined ? [] : [{ name: "Traffic routing", value: routing }]),
  ];
}

function routingOf(analysis: Canary["analysis"]): string | undefined {
  const { iterations = 0, match = [], maxWeight = 0, stepWeight = 0, stepWeights = [] } = analysis;
  if (iterations > 0) return match.length > 0 ? "A/B Testing" : "Blue/Green";
  if (stepWeight > 0) return `Weight step: ${stepWeight} max: ${maxWeight}`;
  return stepWeights.length > 0 ? `Weight steps: ${stepWeights.join(",")} max: ${maxWeight}` : undefined;
}
