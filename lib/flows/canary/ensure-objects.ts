import { targetText } from "../../canary/canary.ts";
import type { Router } from "../../canary/routes/router.ts";
import { isInFlight } from "../../canary/run/run-state.ts";
import { StepFault } from "../../canary/step-fault.ts";
import { checkGeneratedNames } from "../../canary/workload/generated-names.ts";
import { messageOf } from "../../core/failure.ts";
import { type CanaryContext, skipsAnalysis } from "./canary-context.ts";
import { keeperOf } from "./keep-originals.ts";
import { isPrimaryKept } from "./restore.ts";
import { failInitialisation } from "./roll-back.ts";

/**
 * The objects of a Canary (reference canary 5, steps 2 to 9). Each exists before the next one needs it: the apex Service selects the
 * primary only once that is ready, and the target is scaled down only once Service and route point to the primary. Flagger makes the
 * route last.
 *
 * @returns undefined if the initialisation has to wait, or has failed, or if nothing tells what the primary was
 */
export async function ensureObjects(ctx: CanaryContext): Promise<Router | undefined> {
  const { canary, parts, scaler, step, workload } = ctx;
  const isInitialising = ctx.phase === "Initializing";
  const target = await workload.metadata();
  checkGeneratedNames(canary, target);
  const services = parts.services(canary, target, step);
  const router = parts.router(canary, target, step);
  const hasServices = areServicesKnown(ctx);
  if (!hasServices) await services.ensureOwn();
  if (isInitialising) await probeMetrics(ctx);
  if (!(await isPrimaryKept(ctx))) return undefined;
  await workload.ensurePrimary();
  if (isInitialising && !(await isPrimaryReady(ctx))) return undefined;
  await scaler?.ensurePrimary(true);
  const keeper = keeperOf(ctx);
  if (!hasServices) await services.ensureApex(keeper.keep);
  await router.ensure({ ...weightAtRest(ctx), takeOver: keeper.take });
  if (isInitialising) {
    // A scaler that is paused scales the target to zero too.
    await scaler?.pauseTarget();
    await scaleDown(ctx);
  }
  return router;
}

/**
 * In the middle of a run the Services are as the step before has left them, unless something has woken the Canary since then: it is
 * subscribed to them. A step after a failed check still checks them, since a Service without endpoints fails checks.
 */
function areServicesKnown({ canary, phase, step }: CanaryContext): boolean {
  return isInFlight(phase) && (canary.status.failedChecks ?? 0) === 0 && step.memory?.hasServices === true;
}

/**
 * Between two runs another writer may have given the canary a share, for which no pod answers. In a run the step decides once it
 * knows who serves.
 */
function weightAtRest({ canary: { status }, phase }: CanaryContext): { readonly weight?: number } {
  return isInFlight(phase) ? {} : { weight: status.canaryWeight ?? 0 };
}

/** Told in each step of the initialisation; it never holds it up. */
async function probeMetrics(ctx: CanaryContext): Promise<void> {
  const { canary, parts, run, step } = ctx;
  if (skipsAnalysis(canary)) return;
  try {
    await parts.metrics(canary, step).probe();
  } catch (error) {
    run.signal.throwIfAborted();
    return ctx.say("Warning", `Error checking metric providers: ${messageOf(error)}`);
  }
  await ctx.say("Normal", "all the metrics providers are available!");
}

async function isPrimaryReady(ctx: CanaryContext): Promise<boolean> {
  const primary = await ctx.workload.primaryReadiness();
  if (primary.isReady) return true;
  // Without analysis the step that creates the primary reports nothing in Flagger, which does not wait there.
  const isMadeNow = skipsAnalysis(ctx.canary) && ctx.canary.status.phase === undefined;
  if (!isMadeNow) await ctx.say("Warning", primary.message);
  if (!primary.isRetriable) await failInitialisation(ctx);
  return false;
}

async function scaleDown({ canary, workload }: CanaryContext): Promise<void> {
  try {
    await workload.scaleToZero();
  } catch (error) {
    if (!(error instanceof StepFault)) throw error;
    const { kind } = canary.spec.targetRef;
    const message = `scaling down canary ${kind} ${targetText(canary)} failed: ${error.message}`;
    throw new StepFault(message, { cause: error });
  }
}
