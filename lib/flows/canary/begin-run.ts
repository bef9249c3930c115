import { targetText } from "../../canary/canary.ts";
import { resynced, syncedIn } from "../../canary/run/phase-status.ts";
import type { TargetRevision } from "../../canary/workload/workload.ts";
import { type CanaryContext, tracksConfigs } from "./canary-context.ts";
import { isRolloutConfirmed } from "./gates.ts";

/**
 * Begins a run, once its gates are open (reference canary 5, step 14). The phase is written last: until it says Progressing no traffic moves,
 * and a step that was cut off is taken again.
 */
export async function beginRun(revision: TargetRevision, ctx: CanaryContext): Promise<void> {
  const { canary, phase, scaler, workload } = ctx;
  const synced = { revision, isTracking: tracksConfigs(ctx) };
  if (phase === "Failed") ctx.note(resynced(ctx.status(), synced, ctx.at()));
  if (!(await isRolloutConfirmed(ctx))) return;
  await ctx.say("Normal", `New revision detected! Scaling up ${targetText(canary)}`, "Progressing");
  await ctx.alert("New revision detected, progressing canary analysis.", "info", true);
  await scaler?.resumeTarget();
  await workload.scaleFromZero();
  await ctx.write(syncedIn(ctx.status(), "Progressing", synced, ctx.at()));
}
