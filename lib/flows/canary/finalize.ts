import { canaryFinalizer } from "../../api/names.ts";
import { intervalMs } from "../../canary/analysis.ts";
import { canaryText, targetText } from "../../canary/canary.ts";
import { canaryManager } from "../../canary/canary-deps.ts";
import { inPhase } from "../../canary/run/phase-status.ts";
import { parseApiVersion } from "../../core/object-ref.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import type { CanaryContext } from "./canary-context.ts";

/** How long the target gets to become ready before it is looked at again, as Flagger's first wait. Each wait is twice the one before. */
const lookAgainMs = 3_000;

function hasFinalizer({ canary }: Pick<CanaryContext, "canary">): boolean {
  return (canary.live.metadata.finalizers ?? []).includes(canaryFinalizer);
}

/** Adds or removes our finalizer, as `spec.revertOnDeletion` says (reference canary 16). */
export async function ensureFinalizer(ctx: CanaryContext): Promise<void> {
  const { canary, home, run } = ctx;
  const isWanted = canary.spec.revertOnDeletion === true;
  if (isWanted === hasFinalizer(ctx)) return;
  const change = (finalizers: readonly string[]) =>
    isWanted ? [...finalizers, canaryFinalizer] : finalizers.filter((one) => one !== canaryFinalizer);
  await writeFinalizers(canary.live, change, { home, manager: canaryManager }, run.signal);
}

/**
 * The end of a Canary. Without `spec.revertOnDeletion` nothing is done: the cluster removes what it owns. Otherwise the target serves
 * again before the Services and routes point to it, and the finalizer is removed last.
 */
export async function finalize(ctx: CanaryContext): Promise<FlowResult> {
  const { canary } = ctx;
  if (!hasFinalizer(ctx)) return { outcome: "deleted", dueInMs: undefined };
  const { home, run } = ctx;
  if (canary.spec.revertOnDeletion === true && !(await revert(ctx))) {
    const { waits = 0 } = ctx.carried;
    const dueInMs = Math.min(lookAgainMs * 2 ** waits, intervalMs(canary.analysis));
    return { outcome: "deleting", dueInMs, carried: { waits: waits + 1 } };
  }
  const withoutOurs = (finalizers: readonly string[]) => finalizers.filter((one) => one !== canaryFinalizer);
  await writeFinalizers(canary.live, withoutOurs, { home, manager: canaryManager }, run.signal);
  if (canary.spec.revertOnDeletion === true) await ctx.say("Normal", `Terminated canary ${canaryText(canary)}`);
  return { outcome: "deleted", dueInMs: undefined };
}

/** Whether the target is as it was before there was a Canary. */
async function revert(ctx: CanaryContext): Promise<boolean> {
  const { canary, parts, scaler, step, workload } = ctx;
  if (ctx.phase !== "Terminating") {
    await ctx.write(inPhase(ctx.status(), "Terminating", canary.analysis, ctx.at()));
    await ctx.say("Normal", `Terminating canary ${canaryText(canary)}`);
  }
  if (!(await isTargetThere(ctx))) {
    const what = `${canary.spec.targetRef.kind} ${targetText(canary)}`;
    ctx.deps.log.info("target of a canary is gone, nothing is given back", { ...ctx.run.key, target: what });
    return true;
  }
  await scaler?.resumeTarget();
  await workload.finalize();
  const readiness = await workload.canaryReadiness();
  if (!readiness.isReady) {
    ctx.deps.log.info("canary waits for its target before it is deleted", { ...ctx.run.key, why: readiness.message });
    return false;
  }
  const target = await workload.metadata();
  await parts.services(canary, target, step).finalize();
  await parts.router(canary, target, step).finalize();
  return true;
}

async function isTargetThere({ canary, home, run }: CanaryContext): Promise<boolean> {
  const { apiVersion, kind, name } = canary.spec.targetRef;
  const ref = { ...parseApiVersion(apiVersion), kind, namespace: canary.namespace, name };
  return (await home.get(ref, run.signal)) !== undefined;
}
