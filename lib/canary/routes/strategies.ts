import type { Canary } from "../canary.ts";
import { StepFault } from "../step-fault.ts";

/** What a provider cannot do, beside weights. */
export type Lacking = "match" | "mirror";

/**
 * Refuses an A/B test where the provider cannot tell requests apart: Flagger sends every request to the canary then. And a mirror before
 * weights where it cannot mirror: Flagger waits for the mirror without end.
 */
export function refuseLacking({ analysis }: Canary, provider: string, lacking: readonly Lacking[]): void {
  const { match = [], iterations = 0, mirror } = analysis;
  if (lacking.includes("match") && match.length > 0 && iterations > 0) {
    throw new StepFault(
      `provider ${provider} cannot route requests by spec.analysis.match: remove it, or set spec.provider to gatewayapi:v1 or istio`,
    );
  }
  if (lacking.includes("mirror") && mirror === true && iterations === 0) {
    throw new StepFault(
      `provider ${provider} cannot mirror requests: remove spec.analysis.mirror, or set spec.provider to gatewayapi:v1 or istio`,
    );
  }
}
