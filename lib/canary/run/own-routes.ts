import type { CanaryAnalysis } from "../../api/canary.ts";
import { boundOf, stepOf, strategyOf, totalWeight, weightAfter } from "../analysis.ts";
import type { Routes } from "../routes/router.ts";
import type { Position } from "./next-move.ts";

/**
 * Where the run has sent the requests, according to the status. Other writers may have changed the shares of the route: Flagger's run
 * continues from these. Only for phases of the analysis; pure.
 *
 * @param canaryWeight of the status
 */
export function ownRoutes(at: Position, canaryWeight: number): Routes {
  const canary = at.provider === "kubernetes" ? at.routes.canary : ownWeight(at, canaryWeight);
  const isMirrored = at.routes.isMirrored && canary === 0 && at.analysis.mirror === true;
  return { primary: totalWeight - canary, canary, isMirrored };
}

function ownWeight({ analysis, iterations, phase, routes }: Position, canaryWeight: number): number {
  const isWaiting = phase === "WaitingPromotion";
  switch (strategyOf(analysis)) {
    case "weighted":
      // The status says zero while the promotion waits (reference canary 20, 2).
      return isWaiting ? finalWeight(analysis) : canaryWeight;
    case "ab":
      return isWaiting || iterations > 0 ? totalWeight : 0;
    case "blue-green": {
      // A promotion waits with all requests on the canary or with none; the status is the same in both cases.
      const isHandedOver = isWaiting ? routes.canary === totalWeight : iterations > (analysis.iterations ?? 0);
      return isHandedOver ? totalWeight : 0;
    }
  }
}

/** The canary's share at which the analysis by weights ends. */
function finalWeight(analysis: CanaryAnalysis): number {
  let weight = 0;
  while (weight < boundOf(analysis) && stepOf(analysis, weight) > 0) weight = weightAfter(analysis, weight);
  return weight;
}
