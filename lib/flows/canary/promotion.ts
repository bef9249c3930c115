import { totalWeight } from "../../canary/analysis.ts";
import { canaryText, primaryName, targetText } from "../../canary/canary.ts";
import type { Router, Routes } from "../../canary/routes/router.ts";
import { allToPrimary } from "../../canary/routes/weights.ts";
import { nextToPrimary } from "../../canary/run/next-move.ts";
import { counted, inPhase } from "../../canary/run/phase-status.ts";
import type { CanaryContext } from "./canary-context.ts";
import { tellEnd } from "./gates.ts";

/** Copies the target to the primary, whose rollout begins. The phase is written after it: the copy may be repeated, the phase must not lie. */
export async function promote(ctx: CanaryContext): Promise<void> {
  await copy(ctx);
  await ctx.write(inPhase(ctx.status(), "Promoting", ctx.canary.analysis, ctx.at()));
}

async function copy(ctx: CanaryContext): Promise<void> {
  const { canary, workload } = ctx;
  const primary = `${primaryName(canary.spec.targetRef.name)}.${canary.namespace}`;
  await ctx.say("Normal", `Copying ${targetText(canary)} template spec to ${primary}`);
  await workload.promote();
}

/** The primary is ready with the promoted template: the traffic comes back to it (reference canary 6.4). */
export async function moveBack(router: Router, routes: Routes, ctx: CanaryContext): Promise<void> {
  const { canary, provider, scaler } = ctx;
  await scaler?.ensurePrimary(false);
  const { analysis } = canary;
  const isStepwise = (analysis.stepWeightPromotion ?? 0) > 0;
  if (provider !== "kubernetes" && !isStepwise) {
    await ctx.say("Normal", "Routing all traffic to primary");
    await ctx.setRoutes(router, allToPrimary);
  }
  const left = ownRoutesLeft(routes, ctx);
  // A step that was cut off may have sent it all traffic already.
  if (provider !== "kubernetes" && isStepwise && left.canary > 0) {
    const next = nextToPrimary(analysis, left);
    await ctx.setRoutes(router, next);
    await ctx.say("Normal", `Advance ${canaryText(canary)} primary weight ${next.primary}`);
    if (next.primary < totalWeight) {
      return ctx.write(counted(ctx.status(), { canaryWeight: next.canary }, ctx.at()));
    }
  }
  await ctx.write(inPhase(ctx.status(), "Finalising", analysis, ctx.at()));
}

/**
 * Shares that other writers have given the canary meanwhile do not count. The status says zero where the promotion has waited for a
 * gate.
 */
function ownRoutesLeft(routes: Routes, ctx: CanaryContext): Routes {
  const { canaryWeight = 0 } = ctx.status();
  const canary = canaryWeight > 0 ? Math.min(canaryWeight, routes.canary) : routes.canary;
  return { ...routes, primary: totalWeight - canary, canary };
}

/** The run has succeeded: the target is scaled down, once no traffic goes to it. */
export async function finish(router: Router, routes: Routes, ctx: CanaryContext): Promise<void> {
  const { canary, provider, scaler, workload } = ctx;
  if (provider !== "kubernetes" && routes.canary > 0) await ctx.setRoutes(router, allToPrimary);
  await scaler?.pauseTarget();
  await workload.scaleToZero();
  await ctx.write(inPhase(ctx.status(), "Succeeded", canary.analysis, ctx.at()));
  await tellEnd("Succeeded", ctx);
  await ctx.say("Normal", `Promotion completed! Scaling down ${targetText(canary)}`, "Succeeded");
  await ctx.alert("Canary analysis completed successfully, promotion finished.", "info");
}

/** Promotes a canary that is ready without any analysis (reference canary 6.5). */
export async function promoteAtOnce(router: Router, ctx: CanaryContext): Promise<void> {
  const { canary, scaler, workload } = ctx;
  await ctx.setRoutes(router, allToPrimary);
  await copy(ctx);
  await scaler?.ensurePrimary(false);
  await scaler?.pauseTarget();
  await workload.scaleToZero();
  await ctx.write(inPhase(ctx.status(), "Succeeded", canary.analysis, ctx.at()));
  await tellEnd("Succeeded", ctx);
  const skipped = `Promotion completed! Canary analysis was skipped for ${targetText(canary)}`;
  await ctx.say("Normal", skipped, "Succeeded");
  await ctx.alert("Canary analysis was skipped, promotion finished.", "info");
}
