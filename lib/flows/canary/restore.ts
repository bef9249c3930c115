import { inPhase } from "../../canary/run/phase-status.ts";
import { isChanged, isGoing } from "../../canary/run/run-state.ts";
import { StepFault } from "../../canary/step-fault.ts";
import { type CanaryContext, tracksConfigs } from "./canary-context.ts";

/**
 * Keeps the primary what was last promoted. If that is unknown, a target that a run has rejected does not start in its place; one
 * that is not rejected does, as in an initialisation, since nothing else serves.
 *
 * @returns whether the step continues
 */
export async function isPrimaryKept(ctx: CanaryContext): Promise<boolean> {
  const { canary, phase, workload } = ctx;
  const isAtRest = !isGoing(phase);
  const restored = await workload.restorePrimary?.(isAtRest);
  if (restored === undefined) return true;
  switch (restored.kind) {
    case "restored":
      await ctx.say("Warning", restored.text);
      return true;
    case "changed":
      await ctx.sayOnce("Warning", restored.text);
      return true;
    case "lost": {
      // A revision that waits for its gate has not been rejected either.
      const isNew = phase === "Waiting" || isChanged(canary.status, await workload.revision(), tracksConfigs(ctx));
      if (!isNew && !isAtRest) throw new StepFault(restored.text);
      if (isNew) await initialise(restored.text, ctx);
      else await ctx.sayOnce("Warning", restored.text);
      return false;
    }
  }
}

/** Nothing keeps what was promoted, so the status no longer names it: an initialisation that fails may then begin again with another target. */
async function initialise(why: string, ctx: CanaryContext): Promise<void> {
  await ctx.say("Warning", `${why}. The target is new: it is initialised in its present state`);
  const { lastPromotedSpec: _, ...status } = ctx.status();
  await ctx.write(inPhase(status, "Initializing", ctx.canary.analysis, ctx.at()));
}
