import type { CanaryPhase, CanaryStatus } from "../../api/canary.ts";
import { findCondition } from "../../api/condition.ts";
import { promoteAnnotation, rollbackAnnotation } from "../../api/names.ts";
import { intervalMs } from "../../canary/analysis.ts";
import { isChanged, isGoing, isInFlight } from "../../canary/run/run-state.ts";
import type { StepMemory } from "../../canary/canary-deps.ts";
import { messageOf } from "../../core/failure.ts";
import { equal } from "../../core/json.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { askedBy, type Handled, isAskedFor } from "./by-hand.ts";
import { type CanaryContext, tracksConfigs } from "./canary-context.ts";
import { isOfStep } from "./of-step.ts";
import { recordRelease } from "./record-release.ts";
import { isTargetObserved, topicsOf } from "./subscribe.ts";
import { takeStep } from "./take-step.ts";
import { whenToMend, whenToStep } from "./when-to-step.ts";

/** Takes the step if it is due, and says when the next one is. */
export async function pacedStep(ctx: CanaryContext): Promise<FlowResult> {
  const { canary, deps, run } = ctx;
  const startedAt = deps.clock.now();
  const ms = intervalMs(canary.analysis);
  const { handled = {}, memory: _, told, hasNext = false, ...paced } = ctx.carried;
  const { status } = canary;
  if (status.phase !== undefined) {
    const when = isGoing(status.phase) ? whenToStep : whenToMend;
    const due = when({ intervalMs: ms, now: startedAt, paced, run, status });
    if (!due.isDue && (hasNext || !(await isUrgent(ctx)))) {
      const carried = { ...toldOnce(told), ...due.paced, handled, hasNext };
      return { outcome: "early", dueInMs: due.dueInMs, carried, isQuiet: true };
    }
  }
  const fault = await stepFault(ctx);
  const isWhole = fault === undefined;
  recordRelease(ctx);
  const isObserved = await follow(ctx);
  const { lastAppliedSpec, phase } = ctx.status();
  // No revision: the target has changed while the primary was made of it.
  const isOpen = isGoing(phase) || lastAppliedSpec === "";
  const isEnd = isGoing(ctx.phase) && !isGoing(phase) && phase !== "Failed";
  const hasNextNow = isEnd && (await isTargetChanged(ctx));
  const isDueAgain = isOpen || hasNextNow || !isWhole || !isObserved || !isTargetObserved(canary);
  return {
    outcome: isWhole ? outcomeOf(phase) : "failed",
    ...failureOf(ctx, fault),
    dueInMs: isDueAgain ? Math.max(0, startedAt + ms - deps.clock.now()) : undefined,
    carried: {
      ...toldOnce(ctx.saidOnce()),
      ...{ steppedAt: startedAt, wrote: ctx.status().lastTransitionTime ?? "", handled: handledBy(ctx) },
      ...(isWhole && isInFlight(ctx.phase) ? { memory: await memoryOf(ctx) } : {}),
      ...(hasNextNow ? { hasNext: true } : {}),
    },
    ...(ctx.isQuiet() ? { isQuiet: true } : {}),
  };
}

function toldOnce(told: string | undefined) {
  return told === undefined ? {} : { told };
}

/** What does not wait for the interval: a changed target, at rest or under analysis, and a manual rollback. */
async function isUrgent(ctx: CanaryContext): Promise<boolean> {
  const { phase, run } = ctx;
  const isAnalysing = phase === "Progressing" || phase === "WaitingPromotion";
  if (!run.isRequested || (isGoing(phase) && !isAnalysing)) return false;
  if (isAnalysing && isAskedFor(rollbackAnnotation, ctx)) return true;
  return isTargetChanged(ctx);
}

async function isTargetChanged(ctx: CanaryContext): Promise<boolean> {
  try {
    return isChanged(ctx.status(), await ctx.workload.revision(), tracksConfigs(ctx));
  } catch (error) {
    // The step tells it when it is due.
    if (isOfStep(error)) return false;
    throw error;
  }
}

/** Why the step has not come to its end; undefined if it has. The reason is reported, and the step is tried again. */
async function stepFault(ctx: CanaryContext): Promise<string | undefined> {
  try {
    await takeStep(ctx);
    return undefined;
  } catch (error) {
    if (!isOfStep(error)) throw error;
    const fault = messageOf(error);
    await ctx.say("Warning", fault);
    return fault;
  }
}

/** For the log: why the step did not come to its end, or that the release has failed. */
function failureOf(ctx: CanaryContext, fault: string | undefined): Pick<FlowResult, "failure"> {
  if (fault !== undefined) return { failure: { reason: "ReconciliationFailed", message: fault } };
  const { conditions = [], phase } = ctx.status();
  const promoted = findCondition(conditions, "Promoted");
  if (phase !== "Failed" || promoted === undefined) return {};
  return { failure: { reason: promoted.reason, message: promoted.message } };
}

/**
 * Subscribes to the objects that the step still follows. Answers false where a config is tracked that was not before: a change of it
 * may have been missed, so the Canary looks again.
 */
async function follow(ctx: CanaryContext): Promise<boolean> {
  const { canary, deps, run } = ctx;
  const [before, after] = [topicsOf(ctx, canary.status), topicsOf(ctx, ctx.status())];
  if (!equal(before, after)) await deps.subscriptions.subscribe(after, run.fence, run.signal);
  const known = canary.status.trackedConfigs ?? {};
  return Object.keys(ctx.status().trackedConfigs ?? {}).every((config) => Object.hasOwn(known, config));
}

/** A manual request counts for one run: it is done when that run is over, or starts again. */
function handledBy(ctx: CanaryContext): Handled {
  const { canary, handled } = ctx;
  const { lastAppliedSpec, phase }: CanaryStatus = ctx.status();
  const isSameRun = isGoing(phase) && lastAppliedSpec === canary.status.lastAppliedSpec;
  if (isSameRun || canary.status.phase === "Waiting") return handled;
  const asked = ([promoteAnnotation, rollbackAnnotation] as const).flatMap((name) => {
    const value = askedBy(canary, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(asked);
}

/** A whole step of a run has read target and primary, and has put the Services right where it did not know them. */
async function memoryOf({ workload }: CanaryContext): Promise<StepMemory> {
  const sharedLabel = await workload.sharedLabel?.();
  return { hasServices: true, ...(sharedLabel === undefined ? {} : { sharedLabel }) };
}

/** One word for logs and metrics. A failed release counts as an object that is not ready. */
function outcomeOf(phase: CanaryPhase | undefined): string {
  if (phase === "Failed") return "failed";
  return isGoing(phase) ? "progressing" : "ready";
}
