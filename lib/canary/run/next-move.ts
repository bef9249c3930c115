import type { CanaryAnalysis, CanaryPhase } from "../../api/canary.ts";
import { boundOf, stepOf, strategyOf, totalWeight, weightAfter } from "../analysis.ts";
import type { Routes } from "../routes/router.ts";
import { allToCanary, allToPrimary } from "../routes/weights.ts";

/** What a step does after its checks have passed. */
export type Move =
  /** The canary gets more traffic. `isAsked`: the gates of traffic increases are asked first. */
  | { readonly kind: "weight"; readonly routes: Routes; readonly isAsked: boolean }
  /** One more iteration; without routes the traffic stays as it is. */
  | { readonly kind: "iteration"; readonly iteration: number; readonly of: number; readonly routes: Routes | undefined }
  /** After the last iteration of blue/green, once the gates of promotion are open: all traffic goes to the canary. */
  | {
      readonly kind: "hand over";
      readonly iteration: number;
      readonly routes: Routes | undefined;
      readonly text: string | undefined;
    }
  /** The target is copied to the primary, once the gates of promotion are open. */
  | { readonly kind: "promote"; readonly isAsked: boolean }
  /** The analysis has no next step. */
  | { readonly kind: "none" };

/** The inputs of the next move. */
export interface Position {
  /** As the provider can do it. */
  readonly analysis: CanaryAnalysis;
  readonly provider: string;
  readonly phase: CanaryPhase;
  readonly iterations: number;
  readonly routes: Routes;
}

/** The next move of the strategy (reference canary 6.1 to 6.3). Pure. */
export function nextMove(at: Position): Move {
  switch (strategyOf(at.analysis)) {
    case "weighted":
      return weighted(at);
    case "ab":
      return byIterations(at, () => allToCanary);
    case "blue-green":
      return blueGreen(at);
  }
}

/** Whether nothing has reached the canary yet, so that the step is the first of the analysis. */
export function isFirst({ analysis: { mirror = false }, iterations, routes }: Position): boolean {
  return routes.canary === 0 && iterations === 0 && !(mirror && routes.isMirrored);
}

function weighted({ analysis, phase, routes }: Position): Move {
  if (stepOf(analysis, routes.canary) <= 0) return { kind: "none" };
  const isAsked = !routes.isMirrored && phase !== "WaitingPromotion";
  if (routes.canary >= boundOf(analysis)) return { kind: "promote", isAsked };
  // One step mirrors all requests to the canary before it serves any.
  if (analysis.mirror === true && routes.canary === 0 && !routes.isMirrored) {
    return { kind: "weight", routes: { ...allToPrimary, isMirrored: true }, isAsked };
  }
  const canary = weightAfter(analysis, routes.canary);
  return { kind: "weight", routes: { primary: totalWeight - canary, canary, isMirrored: false }, isAsked };
}

function byIterations(
  { analysis: { iterations: of = 0 }, iterations }: Position,
  routes: () => Routes | undefined,
): Move {
  if (iterations >= of) return { kind: "promote", isAsked: false };
  return { kind: "iteration", iteration: iterations + 1, of, routes: routes() };
}

function blueGreen(at: Position): Move {
  const { analysis, iterations, provider, routes } = at;
  const isRouted = provider !== "kubernetes";
  const mirror = analysis.mirror === true;
  if (iterations === analysis.iterations) {
    const text = mirror ? "Stop traffic mirroring and route all traffic to canary" : "Routing all traffic to canary";
    return {
      kind: "hand over",
      iteration: iterations + 1,
      ...(isRouted ? { routes: allToCanary, text } : { routes: undefined, text: undefined }),
    };
  }
  const isMirroring = isRouted && mirror && !routes.isMirrored;
  return byIterations(at, () => (isMirroring ? { ...allToPrimary, isMirrored: true } : undefined));
}

/** The routes of the next step back to the primary (reference canary 6.4). Pure. */
export function nextToPrimary({ stepWeightPromotion = 0 }: CanaryAnalysis, routes: Routes): Routes {
  if (stepWeightPromotion <= 0) return allToPrimary;
  const primary = Math.min(totalWeight, routes.primary + stepWeightPromotion);
  return { primary, canary: totalWeight - primary, isMirrored: false };
}
