import { canaryText, targetText } from "../../canary/canary.ts";
import type { Router, Routes } from "../../canary/routes/router.ts";
import { isCutOff, isFirst, type Move, nextMove, type Position } from "../../canary/run/next-move.ts";
import { counted } from "../../canary/run/phase-status.ts";
import { type CanaryContext, feasibleAnalysis } from "./canary-context.ts";
import { areHooksPassed, isIncreaseConfirmed, isPrepared, isPromotionConfirmed } from "./gates.ts";
import { promote } from "./promotion.ts";

/** One step of the analysis: its checks, and what the strategy does when they pass (reference canary 5, steps 22 and 23). */
export async function analyse(router: Router, routes: Routes, ctx: CanaryContext): Promise<void> {
  const { canary, phase, provider } = ctx;
  const { canaryWeight = 0, failedChecks = 0, iterations = 0 } = canary.status;
  const { analysis, warnings } = feasibleAnalysis(ctx);
  const at: Position = { analysis, provider, phase, iterations, routes };
  if (isCutOff(at, canaryWeight)) return raise(routes, router, ctx);
  const isPassed = isFirst(at) ? await areFirstChecksPassed(ctx) : await areChecksPassed(ctx);
  if (!isPassed) return ctx.write(counted(ctx.status(), { failedChecks: failedChecks + 1 }, ctx.at()));
  for (const warning of warnings) await ctx.say("Warning", warning);
  await carryOut(nextMove(at), router, ctx);
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

/** The routes are set before the status says so: it never names more traffic than there is. */
async function carryOut(move: Move, router: Router, ctx: CanaryContext): Promise<void> {
  switch (move.kind) {
    case "weight":
      if (move.isAsked && !(await isIncreaseConfirmed(ctx))) return;
      return raise(move.routes, router, ctx);
    case "iteration":
      if (move.routes !== undefined) await ctx.setRoutes(router, move.routes);
      await ctx.write(counted(ctx.status(), { iterations: move.iteration }, ctx.at()));
      return ctx.say("Normal", `Advance ${canaryText(ctx.canary)} canary iteration ${move.iteration}/${move.of}`);
    case "hand over":
      if (!(await isPromotionConfirmed(ctx))) return;
      if (move.text !== undefined) await ctx.say("Normal", move.text);
      if (move.routes !== undefined) await ctx.setRoutes(router, move.routes);
      return ctx.write(counted(ctx.status(), { iterations: move.iteration }, ctx.at()));
    case "promote":
      if (move.isAsked && !(await isIncreaseConfirmed(ctx))) return;
      if (!(await isPromotionConfirmed(ctx))) return;
      return promote(ctx);
    case "none": {
      const mend = "set stepWeight above 0, or stepWeights that rise, or iterations";
      return ctx.say("Warning", `Halt ${canaryText(ctx.canary)} advancement spec.analysis has no next step: ${mend}`);
    }
  }
}

async function raise(routes: Routes, router: Router, ctx: CanaryContext): Promise<void> {
  await ctx.setRoutes(router, routes);
  await ctx.write(counted(ctx.status(), { canaryWeight: routes.canary }, ctx.at()));
  await ctx.say("Normal", `Advance ${canaryText(ctx.canary)} canary weight ${routes.canary}`);
}
