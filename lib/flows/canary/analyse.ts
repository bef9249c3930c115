import { canaryText, targetText } from "../../canary/canary.ts";
import type { Router, Routes } from "../../canary/routes/router.ts";
import { isFirst, type Move, nextMove } from "../../canary/run/next-move.ts";
import { counted } from "../../canary/run/phase-status.ts";
import { type CanaryContext, feasibleAnalysis } from "./canary-context.ts";
import { areHooksPassed, isIncreaseConfirmed, isPrepared, isPromotionConfirmed } from "./gates.ts";
import { raiseShare, type Standing } from "./own-shares.ts";
import { promote } from "./promotion.ts";

/**
 * One step of the analysis: its checks, and what the strategy does when they pass (reference canary 5, steps 22 and 23). It goes on from where
 * the status says that the run is.
 */
export async function analyse(routes: Routes, standing: Standing, router: Router, ctx: CanaryContext): Promise<void> {
  const { at, isAhead } = standing;
  const { failedChecks = 0 } = ctx.canary.status;
  const isWaiting = ctx.phase === "WaitingPromotion";
  if (!isWaiting) await raiseShare(routes, standing, router, ctx);
  const isPassed = isFirst(at) ? await areFirstChecksPassed(ctx) : await areChecksPassed(ctx);
  // The last weight is the spec's, which may have changed.
  if (isWaiting && isPassed) await raiseShare(routes, standing, router, ctx);
  if (isPassed) for (const warning of feasibleAnalysis(ctx).warnings) await ctx.say("Warning", warning);
  if (isPassed && (await isCarriedOut(nextMove(at), router, ctx))) return;
  if (isAhead) await ctx.setRoutes(router, at.routes);
  if (!isPassed) await ctx.write(counted(ctx.status(), { failedChecks: failedChecks + 1 }, ctx.at()));
}

async function areFirstChecksPassed(ctx: CanaryContext): Promise<boolean> {
  await ctx.say("Normal", `Starting canary analysis for ${targetText(ctx.canary)}`);
  return isPrepared(ctx);
}

async function areChecksPassed(ctx: CanaryContext): Promise<boolean> {
  if (!(await areHooksPassed(ctx))) return false;
  const result = await ctx.parts.metrics(ctx.canary, ctx.step).check();
  if (!result.isPassed) await ctx.say("Warning", result.text);
  return result.isPassed;
}

/** False where a gate holds it. The routes are set before the status says so: it never names more traffic than there is. */
async function isCarriedOut(move: Move, router: Router, ctx: CanaryContext): Promise<boolean> {
  switch (move.kind) {
    case "weight":
      if (move.isAsked && !(await isIncreaseConfirmed(ctx))) return false;
      await raise(move.routes, router, ctx);
      return true;
    case "iteration":
      if (move.routes !== undefined) await ctx.setRoutes(router, move.routes);
      await ctx.write(counted(ctx.status(), { iterations: move.iteration }, ctx.at()));
      await ctx.say("Normal", `Advance ${canaryText(ctx.canary)} canary iteration ${move.iteration}/${move.of}`);
      return true;
    case "hand over":
      if (!(await isPromotionConfirmed(ctx))) return false;
      if (move.text !== undefined) await ctx.say("Normal", move.text);
      if (move.routes !== undefined) await ctx.setRoutes(router, move.routes);
      await ctx.write(counted(ctx.status(), { iterations: move.iteration }, ctx.at()));
      return true;
    case "promote":
      if (move.isAsked && !(await isIncreaseConfirmed(ctx))) return false;
      if (!(await isPromotionConfirmed(ctx))) return false;
      await promote(ctx);
      return true;
    case "none": {
      const mend = "set stepWeight above 0, or stepWeights that rise, or iterations";
      await ctx.say("Warning", `Halt ${canaryText(ctx.canary)} advancement spec.analysis has no next step: ${mend}`);
      return true;
    }
  }
}

async function raise(routes: Routes, router: Router, ctx: CanaryContext): Promise<void> {
  await ctx.setRoutes(router, routes);
  await ctx.write(counted(ctx.status(), { canaryWeight: routes.canary }, ctx.at()));
  await ctx.say("Normal", `Advance ${canaryText(ctx.canary)} canary weight ${routes.canary}`);
}
