import { strategyOf, thresholdOf, totalWeight } from "../../canary/analysis.ts";
import { isWithoutPrimary, targetText } from "../../canary/canary.ts";
import type { Router, Routes } from "../../canary/routes/router.ts";
import { allToPrimary } from "../../canary/routes/weights.ts";
import { counted, inPhase, resynced, syncedIn } from "../../canary/run/phase-status.ts";
import { isChanged, isGoing, isInFlight, isSeen } from "../../canary/run/run-state.ts";
import { StepFault } from "../../canary/step-fault.ts";
import type { TargetRevision } from "../../canary/workload/workload.ts";
import { analyse } from "./analyse.ts";
import { beginRun } from "./begin-run.ts";
import { type CanaryContext, feasibleAnalysis, skipsAnalysis, tracksConfigs } from "./canary-context.ts";
import { ensureObjects } from "./ensure-objects.ts";
import { isRollbackAsked, isRollbackWanted } from "./gates.ts";
import { lowerShare, standingOf } from "./own-shares.ts";
import { finish, moveBack, promote, promoteAtOnce } from "./promotion.ts";
import { failPromotion, rollBack, stay } from "./roll-back.ts";

/** What a step of a run has read. */
interface Found {
  readonly router: Router;
  readonly routes: Routes;
  readonly revision: TargetRevision;
  /** The primary does not come up, and has no traffic: what the canary has stays there. */
  readonly isPrimaryDown: boolean;
}

/**
 * One step of a Canary in Flagger's order (reference canary 5). It looks only at present state, so it may be repeated after a step
 * that was cut off anywhere. Throws a `StepFault` for faults that end a step and are tried again.
 */
export async function takeStep(ctx: CanaryContext): Promise<void> {
  const { lastPromotedSpec, phase } = ctx.canary.status;
  await correctTime(ctx);
  if (phase === "Failed" && lastPromotedSpec === undefined) return initialiseAgain(ctx);
  if (isInFlight(ctx.phase)) await withdrawFromMissing(ctx);
  const router = await ensureObjects(ctx);
  if (router === undefined) return;
  const revision = await ctx.workload.revision();
  if (ctx.phase === "Initializing") return endInitialisation(revision, ctx);
  const isTracking = tracksConfigs(ctx);
  const isNew = isChanged(ctx.canary.status, revision, isTracking);
  if (!(isInFlight(ctx.phase) || ctx.phase === "Waiting" || isNew)) return rest(revision, ctx);
  const primary = await primaryState(isNew, router, ctx);
  if (primary === "not serving" || primary === "promoted") return;
  const routes = await router.routes();
  if (!isInFlight(ctx.phase)) return beginRun(revision, ctx);
  const found = { router, routes, revision, isPrimaryDown: primary === "down" };
  if (isAnalysing(ctx) && isNew) return restart(found, ctx);
  await goOn(found, ctx);
}

/** Deadlines count from the status. A time that a fast clock wrote is replaced by the present time, so that the next steps follow. */
async function correctTime(ctx: CanaryContext): Promise<void> {
  const { now } = ctx.at();
  if (!isGoing(ctx.phase) || !(Date.parse(ctx.status().lastTransitionTime ?? "") > now + aheadMs)) return;
  await ctx.write(counted(ctx.status(), {}, ctx.at()));
}

/** Clocks differ by less than that unless one is wrong. */
const aheadMs = 60_000;

/**
 * A target that is deleted in the middle of a run serves nothing: all traffic goes to the primary, if that serves. The step then says
 * that the target is missing. In Flagger its share goes to nothing.
 */
async function withdrawFromMissing(ctx: CanaryContext): Promise<void> {
  const { canary, parts, provider, step, workload } = ctx;
  const target = provider === "kubernetes" ? undefined : await workload.metadataWithoutTarget?.();
  if (target === undefined || !(await workload.primaryReadiness()).isReady) return;
  const router = parts.router(canary, target, step);
  if ((await router.routes()).canary === 0) return;
  await ctx.setRoutes(router, allToPrimary);
  await ctx.write(counted(ctx.status(), { canaryWeight: 0 }, ctx.at()));
}

/** A step of a run whose target has not changed since the run began. */
async function goOn(found: Found, ctx: CanaryContext): Promise<void> {
  const { router, routes } = found;
  // Also while the canary does not serve, since users roll back then.

  if (isAnalysing(ctx) && (await isRollbackAsked(ctx))) return rollBackByHand(found, ctx);
  const standing = standingOf(routes, found.isPrimaryDown, ctx);
  if (isAnalysing(ctx) && !skipsAnalysis(ctx.canary)) await lowerShare(routes, standing, router, ctx);
  if (!(await isCanaryServing(found, ctx))) {
    if (!isPromoted(ctx)) return;
    // The primary is ready with the promoted template: a canary that does not serve loses its share at once.
    await ctx.setRoutes(router, allToPrimary);
    return ctx.phase === "Promoting" ? moveBack(router, allToPrimary, ctx) : finish(router, allToPrimary, ctx);
  }
  if (skipsAnalysis(ctx.canary)) return found.isPrimaryDown ? promote(ctx) : promoteAtOnce(router, ctx);
  if (isAnalysing(ctx) && (await isRollbackWanted(ctx))) return rollBackByHand(found, ctx);
  if (ctx.phase === "Promoting") return moveBack(router, routes, ctx);
  if (ctx.phase === "Finalising") return finish(router, routes, ctx);
  if (isThresholdReached(ctx)) return rollBackFound(found, ctx);
  await analyse(routes, standing, router, ctx);
}

function isAnalysing({ phase }: CanaryContext): boolean {
  return phase === "Progressing" || phase === "WaitingPromotion";
}

/** Whether the primary has the target's template. In these phases a step goes on only if it is ready. */
function isPromoted({ phase }: CanaryContext): boolean {
  return phase === "Promoting" || phase === "Finalising";
}

function isThresholdReached(ctx: CanaryContext): boolean {
  return isAnalysing(ctx) && (ctx.canary.status.failedChecks ?? 0) >= thresholdOf(ctx.canary.analysis);
}

async function endInitialisation(revision: TargetRevision, ctx: CanaryContext): Promise<void> {
  const { canary } = ctx;
  const synced = { revision, isTracking: tracksConfigs(ctx) };
  await ctx.write(syncedIn(ctx.status(), "Initialized", synced, ctx.at()));
  await ctx.say("Normal", `Initialization done! ${canary.name}.${canary.namespace}`, "Initialized");
  await ctx.alert(`New ${canary.spec.targetRef.kind} detected, initialization completed.`, "info", true);
}

/**
 * The initialisation has failed, and nothing has moved to the primary yet. A target that was mended is copied to it, and the
 * initialisation begins again. In Flagger the primary keeps its original template.
 */
async function initialiseAgain(ctx: CanaryContext): Promise<void> {
  const { canary, workload } = ctx;
  const revision = await workload.revision();
  if (!isChanged(canary.status, revision, tracksConfigs(ctx))) return;
  await workload.ensurePrimary();
  await workload.promote();
  await ctx.write(inPhase(ctx.status(), "Initializing", canary.analysis, ctx.at()));
}

/** A failed Canary names its present target, so that it is not tried again (reference canary 5, step 11). */
async function rest(revision: TargetRevision, ctx: CanaryContext): Promise<void> {
  const isTracking = tracksConfigs(ctx);
  if (ctx.phase !== "Failed" || isSeen(ctx.status(), revision, isTracking)) return;
  await ctx.write(resynced(ctx.status(), { revision, isTracking }, ctx.at()));
}

/** The primary's state: whether a step goes on with it, without it, or not at all; "promoted" if it has the target's template already. */
type PrimaryState = "serving" | "down" | "not serving" | "promoted";

/** Without a serving primary nothing continues. The deadline ends the run, with the traffic on the copy that serves. */
async function primaryState(isNew: boolean, router: Router, ctx: CanaryContext): Promise<PrimaryState> {
  if (await needsNoPrimary(router, ctx)) return "serving";
  const primary = await ctx.workload.primaryReadiness();
  const isCopied = isAnalysing(ctx) && (await ctx.workload.isPromoted?.()) === true;
  if (isCopied) {
    // The step before was cut off between the copy and its status: from here on an unready primary is a failed promotion, and a failed check
    // rolls back nothing.
    await ctx.write(inPhase(ctx.status(), "Promoting", ctx.canary.analysis, ctx.at()));
  }
  if (primary.isReady) return isCopied ? "promoted" : "serving";
  const isDown = !primary.isRetriable && (await isWithoutTraffic(router, ctx));
  // No run has begun that could fail: the revision waits for the primary. At rest nothing else brings the next step.
  if (!isDown && !isGoing(ctx.phase)) throw new StepFault(primary.message);
  await ctx.say("Warning", primary.message);
  if (isDown) return isNew || ctx.phase === "Waiting" || isAnalysing(ctx) ? "down" : "not serving";
  if (primary.isRetriable || !isInFlight(ctx.phase)) return "not serving";
  const { phase } = ctx.status();
  if (phase === "Promoting" || phase === "Finalising") {
    await failPromotion(primary.message, (await router.routes()).canary, router, ctx);
  } else await rollBack(router, ctx);
  return "not serving";
}

/**
 * Without analysis nothing is compared with the primary. But a canary without traffic after a failed promotion gets none before it
 * serves.
 */
async function needsNoPrimary(router: Router, ctx: CanaryContext): Promise<boolean> {
  if (!skipsAnalysis(ctx.canary) || isPromoted(ctx)) return false;
  return !(await isWithoutTraffic(router, ctx));
}

/**
 * Whether all traffic is on the canary, as a failed promotion leaves it. Then the next revision may be released without the primary,
 * which gets it when it is promoted; a rollback would send the traffic to pods that do not serve, as in Flagger.
 */
async function isWithoutTraffic(router: Router, ctx: CanaryContext): Promise<boolean> {
  const status = ctx.status();
  if (isWithoutPrimary(status)) return true;
  const { phase } = status;
  if (phase !== "Progressing" && phase !== "WaitingPromotion") return false;
  const { analysis } = feasibleAnalysis(ctx);
  return strategyOf(analysis) !== "ab" && (await router.routes()).canary === totalWeight;
}

/** Everything starts over with the new revision, and the traffic leaves it until it is ready (reference canary 4). */
async function restart({ isPrimaryDown, revision, router }: Found, ctx: CanaryContext): Promise<void> {
  await ctx.say("Normal", `New revision detected! Restarting analysis for ${targetText(ctx.canary)}`);
  if (!isPrimaryDown) await ctx.setRoutes(router, allToPrimary);
  const synced = { revision, isTracking: tracksConfigs(ctx) };
  await ctx.write(syncedIn(ctx.status(), "Progressing", synced, ctx.at()));
}

async function isCanaryServing(found: Found, ctx: CanaryContext): Promise<boolean> {
  const { workload } = ctx;
  if (isAnalysing(ctx) && (await workload.isAtZero?.()) === true) {
    if (isThresholdReached(ctx)) await rollBackFound(found, ctx);
    else await scaleUpAgain(found, ctx);
    return false;
  }
  const canary = await workload.canaryReadiness();
  if (canary.isReady) return true;
  await ctx.say("Warning", canary.message);
  if (isPromoted(ctx)) return false;
  if (!canary.isRetriable || isThresholdReached(ctx)) await rollBackFound(found, ctx);
  else if (canary.isLost === true) await withdraw(found, ctx);
  return false;
}

/**
 * Pods of the canary that have served no longer do: its traffic goes to the primary until they serve again, and the analysis starts
 * over. In Flagger they keep their share. It counts as a failed check, so that unstable pods end the run.
 */
async function withdraw({ isPrimaryDown, revision, router, routes }: Found, ctx: CanaryContext): Promise<void> {
  const { canaryWeight = 0, failedChecks = 0, iterations = 0 } = ctx.status();
  const isTested = strategyOf(feasibleAnalysis(ctx).analysis) === "ab" && iterations > 0;
  const hasTraffic = routes.canary > 0 || canaryWeight > 0 || isTested;
  if (isPrimaryDown || ctx.provider === "kubernetes" || !hasTraffic) return;
  const synced = { revision, isTracking: tracksConfigs(ctx) };
  const begun = syncedIn(ctx.status(), "Progressing", synced, ctx.at());
  // Before the routes: a run that was cut off in between would restore the canary's former share once it serves.
  await ctx.write({ ...begun, failedChecks: failedChecks + 1 });
  await ctx.setRoutes(router, allToPrimary);
  await ctx.write(ctx.status());
  const { name, namespace } = ctx.canary;
  await ctx.say(
    "Warning",
    `Halt ${name}.${namespace} advancement canary is no longer ready: all traffic goes to the primary`,
  );
}

/** A target without replicas counts as ready in Flagger, and gets traffic that nothing answers. The analysis starts over. */
async function scaleUpAgain({ isPrimaryDown, revision, router }: Found, ctx: CanaryContext): Promise<void> {
  const { canary, scaler, workload } = ctx;
  if (!isPrimaryDown) await ctx.setRoutes(router, allToPrimary);
  await ctx.say("Warning", `canary ${targetText(canary)} was scaled to zero during its analysis: scaling it up again`);
  const { failedChecks = 0 } = ctx.status();
  const synced = { revision, isTracking: tracksConfigs(ctx) };
  // Before it is scaled up: a run that was cut off in between would restore its former share at once.
  await ctx.write({ ...syncedIn(ctx.status(), "Progressing", synced, ctx.at()), failedChecks });
  await scaler?.resumeTarget();
  await workload.scaleFromZero();
}

async function rollBackByHand(found: Found, ctx: CanaryContext): Promise<void> {
  const { name, namespace } = ctx.canary;
  await ctx.say("Warning", `Rolling back ${name}.${namespace} manual webhook invoked`);
  await ctx.alert("Rolling back manual webhook invoked", "warn");
  await rollBackFound(found, ctx);
}

function rollBackFound({ isPrimaryDown, router }: Found, ctx: CanaryContext): Promise<void> {
  return isPrimaryDown ? stay(ctx) : rollBack(router, ctx);
}
