import { thresholdOf, totalWeight } from "../../canary/analysis.ts";
import { canaryText, targetText } from "../../canary/canary.ts";
import type { Router } from "../../canary/routes/router.ts";
import { allToCanary, allToPrimary } from "../../canary/routes/weights.ts";
import { syncedIn } from "../../canary/run/phase-status.ts";
import { type CanaryContext, tracksConfigs } from "./canary-context.ts";
import { tellEnd } from "./gates.ts";

/**
 * Ends a run that has failed (reference canary 6.6). The traffic is back before the canary goes, and the phase is written last: a step that
 * was cut off in between is taken again.
 */
export async function rollBack(router: Router, ctx: CanaryContext): Promise<void> {
  const { canary, scaler, workload } = ctx;
  await tellThreshold(ctx);
  await ctx.setRoutes(router, allToPrimary);
  await ctx.say("Warning", `Canary failed! Scaling down ${canaryText(canary)}`, "Failed");
  await scaler?.pauseTarget();
  await workload.scaleToZero();
  await fail(0, ctx);
}

/**
 * Ends an initialisation whose primary does not become ready. No traffic has moved to it, so the target keeps serving; Flagger scales
 * it to zero.
 */
export async function failInitialisation(ctx: CanaryContext): Promise<void> {
  const why = "its primary has never been ready";
  await ctx.say("Warning", `Canary failed! Keeping ${targetText(ctx.canary)}: ${why}`, "Failed");
  await fail(0, ctx);
}

async function tellThreshold(ctx: CanaryContext): Promise<void> {
  const { canary } = ctx;
  const { failedChecks = 0 } = ctx.status();
  if (failedChecks < thresholdOf(canary.analysis)) return;
  await ctx.say("Warning", `Rolling back ${canaryText(canary)} failed checks threshold reached ${failedChecks}`);
  await ctx.alert(`Failed checks threshold reached ${failedChecks}`, "error");
}

/** Ends a run that has failed and cannot be rolled back: the primary does not serve, so the canary keeps all traffic. */
export async function stay(ctx: CanaryContext): Promise<void> {
  await tellThreshold(ctx);
  const why = "the primary is not ready, so all traffic stays on it";
  await ctx.say("Warning", `Canary failed! Keeping ${targetText(ctx.canary)}: ${why}`, "Failed");
  await fail(totalWeight, ctx);
}

/**
 * Ends a run whose primary does not become ready with the promoted template (reference canary 6.7): the canary is the only copy that
 * serves, so it gets all traffic and stays. Where it does not serve either, the routes stay as they are.
 */
export async function failPromotion(why: string, weight: number, router: Router, ctx: CanaryContext): Promise<void> {
  const { canary, workload } = ctx;
  await ctx.say("Warning", `Promotion of ${targetText(canary)} failed, primary not ready: ${why}`);
  await ctx.alert(`Promotion failed, primary not ready: ${why}`, "error");
  const isServing = (await workload.canaryReadiness()).isReady && (await workload.isAtZero?.()) !== true;
  if (isServing) await ctx.setRoutes(router, allToCanary);
  await fail(isServing ? totalWeight : weight, ctx);
}

async function fail(canaryWeight: number, ctx: CanaryContext): Promise<void> {
  const revision = await ctx.workload.revision();
  const synced = { revision, isTracking: tracksConfigs(ctx), canaryWeight };
  await ctx.write(syncedIn(ctx.status(), "Failed", synced, ctx.at()));
  await tellEnd("Failed", ctx);
}
