import { canaryText } from "../../canary/canary.ts";
import type { Router, Routes } from "../../canary/routes/router.ts";
import { nextMove, type Position } from "../../canary/run/next-move.ts";
import { ownRoutes } from "../../canary/run/own-routes.ts";
import { type CanaryContext, feasibleAnalysis } from "./canary-context.ts";

/** The shares of the run by its status, also if other clients have changed the shares of the route. */
export interface Standing {
  readonly at: Position;
  /**
   * Whether the route has the shares of the next step already, as one leaves it that was cut off before it wrote the status. It keeps them while
   * the step is taken again; its checks decide whether they stay.
   */
  readonly isAhead: boolean;
}

/**
 * @param routes as the route has them
 * @param isPrimaryDown then all requests are on the canary, and the status does not say so
 */
export function standingOf(routes: Routes, isPrimaryDown: boolean, ctx: CanaryContext): Standing {
  const { phase, provider } = ctx;
  const { canaryWeight = 0, iterations = 0 } = ctx.status();
  const live: Position = { analysis: feasibleAnalysis(ctx).analysis, provider, phase, iterations, routes };
  if (isPrimaryDown) return { at: live, isAhead: false };
  const at = { ...live, routes: ownRoutes(live, canaryWeight) };
  const next = nextMove(at);
  const isNext = "routes" in next && next.routes?.canary === routes.canary;
  return { at, isAhead: isNext && routes.canary !== at.routes.canary };
}

/**
 * Removes the share that other writers have given the canary. The primary serves, and the canary must not: nothing else has to be
 * waited for.
 */
export async function lowerShare(routes: Routes, { at, isAhead }: Standing, router: Router, ctx: CanaryContext) {
  if (routes.canary > at.routes.canary && !isAhead) await putRight(routes, at, router, ctx);
}

/** Restores the share that other writers have taken from the canary, once it serves. */
export async function raiseShare(routes: Routes, { at }: Standing, router: Router, ctx: CanaryContext) {
  if (routes.canary < at.routes.canary) await putRight(routes, at, router, ctx);
}

async function putRight(routes: Routes, at: Position, router: Router, ctx: CanaryContext): Promise<void> {
  const change = `canary weight ${routes.canary} in its route, putting it back to ${at.routes.canary}`;
  await ctx.say("Warning", `${canaryText(ctx.canary)} has ${change}`);
  await ctx.setRoutes(router, at.routes);
}
