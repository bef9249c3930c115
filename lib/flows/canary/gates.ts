import type { CanaryPhase, CanaryWebhook, GateType } from "../../api/canary.ts";
import { promoteAnnotation, rollbackAnnotation } from "../../api/names.ts";
import { canaryText } from "../../canary/canary.ts";
import { noHookTime } from "../../canary/hooks/hook-timeout.ts";
import { counted, inPhase } from "../../canary/run/phase-status.ts";
import { messageOf } from "../../core/failure.ts";
import { isAskedFor, isOpenedByHand } from "./by-hand.ts";
import { type CanaryContext, feasibleAnalysis } from "./canary-context.ts";

type HookType = NonNullable<CanaryWebhook["type"]>;

function hooksOf({ canary }: CanaryContext, ...types: readonly HookType[]): readonly CanaryWebhook[] {
  return (canary.analysis.webhooks ?? []).filter(({ type = "" }) => types.includes(type));
}

/** Undefined if the hook has passed, else why not. The end of the run is rethrown. */
async function refusal(hook: CanaryWebhook, phase: CanaryPhase, ctx: CanaryContext): Promise<string | undefined> {
  const { canary, parts, run, step } = ctx;
  try {
    await parts.hooks({ ...canary, status: ctx.status() }, step).call(hook, phase);
    return undefined;
  } catch (error) {
    run.signal.throwIfAborted();
    return messageOf(error);
  }
}

/**
 * Asks the hooks one after another until one refuses. `passed`: the beginning of the event for a passed hook; without it there is
 * none. `isGate`: what `refused` says has no reason.
 */
async function allPass(
  hooks: readonly CanaryWebhook[],
  phase: CanaryPhase,
  ctx: CanaryContext,
  {
    isGate = false,
    passed,
    refused,
  }: { isGate?: boolean; passed?: string; refused: (hook: CanaryWebhook, why: string) => Promise<void> },
): Promise<boolean> {
  for (const hook of hooks) {
    const why = await refusal(hook, phase, ctx);
    if (why !== undefined) {
      if (isGate && why === noHookTime)
        await ctx.say("Warning", `webhook ${hook.name} of ${canaryText(ctx.canary)}: ${why}`);
      await refused(hook, why);
      return false;
    }
    if (passed !== undefined) await ctx.say("Normal", `${passed} ${hook.name} passed`, phaseTold(phase, ctx));
  }
  return true;
}

/** Events after a success go to event hooks with it; all others carry the phase at the beginning of the step, as in Flagger. */
function phaseTold(phase: CanaryPhase, ctx: CanaryContext): CanaryPhase {
  return phase === "Succeeded" ? phase : ctx.phase;
}

/** Gates that a user has opened by hand are not asked. Says so, once for all gates of the kind. */
async function isOpenByHand(hooks: readonly CanaryWebhook[], gate: GateType, ctx: CanaryContext): Promise<boolean> {
  if (hooks.length === 0 || !isOpenedByHand(gate, ctx)) return false;
  await ctx.say("Normal", `${passedText[gate]} ${promoteAnnotation} passed`);
  return true;
}

/** How the event of a gate that has passed begins. */
const passedText: Readonly<Record<GateType, string>> = {
  "confirm-rollout": "Confirm-rollout check",
  "confirm-traffic-increase": "Confirm-traffic-increase check",
  "confirm-promotion": "Confirm-promotion check",
};

function halt(ctx: CanaryContext, why: string): string {
  return `Halt ${canaryText(ctx.canary)} advancement ${why}`;
}

/** Whether a run may begin. A closed gate is reported once, when the phase becomes Waiting (reference canary 12). */
export async function isRolloutConfirmed(ctx: CanaryContext): Promise<boolean> {
  const hooks = hooksOf(ctx, "confirm-rollout");
  if (await isOpenByHand(hooks, "confirm-rollout", ctx)) return true;
  return allPass(hooks, ctx.phase, ctx, {
    isGate: true,
    passed: passedText["confirm-rollout"],
    async refused({ muteAlert = false, name }) {
      if (ctx.phase === "Waiting") return;
      await ctx.write(inPhase(ctx.status(), "Waiting", ctx.canary.analysis, ctx.at()));
      await ctx.say("Warning", halt(ctx, `waiting for approval ${name}`));
      if (!muteAlert) await ctx.alert("Canary is waiting for approval.", "warn");
    },
  });
}

/** Whether the canary may get more traffic. A closed gate is reported in every step, and is not a failed check. */
export async function isIncreaseConfirmed(ctx: CanaryContext): Promise<boolean> {
  const hooks = hooksOf(ctx, "confirm-traffic-increase");
  if (await isOpenByHand(hooks, "confirm-traffic-increase", ctx)) return true;
  return allPass(hooks, "Progressing", ctx, {
    isGate: true,
    passed: passedText["confirm-traffic-increase"],
    async refused({ muteAlert = false, name }) {
      await ctx.say("Warning", halt(ctx, `waiting for traffic increase approval ${name}`));
      if (!muteAlert) await ctx.alert("Canary traffic increase is waiting for approval.", "warn");
    },
  });
}

/** Whether the canary may be promoted. While it may not, an iteration is done again in every step. */
export async function isPromotionConfirmed(ctx: CanaryContext): Promise<boolean> {
  const hooks = hooksOf(ctx, "confirm-promotion");
  if (await isOpenByHand(hooks, "confirm-promotion", ctx)) return true;
  return allPass(hooks, "Progressing", ctx, {
    isGate: true,
    passed: passedText["confirm-promotion"],
    async refused({ muteAlert = false, name }) {
      const { analysis } = feasibleAnalysis(ctx);
      if (ctx.phase === "WaitingPromotion") {
        await ctx.write(counted(ctx.status(), { iterations: (analysis.iterations ?? 0) - 1 }, ctx.at()));
        return;
      }
      await ctx.write(inPhase(ctx.status(), "WaitingPromotion", analysis, ctx.at()));
      await ctx.say("Warning", halt(ctx, `waiting for promotion approval ${name}`));
      if (!muteAlert) await ctx.alert("Canary promotion is waiting for approval.", "warn");
    },
  });
}

/** The hooks before the first traffic. A failed gate is a failed check. */
export async function isPrepared(ctx: CanaryContext): Promise<boolean> {
  return allPass(hooksOf(ctx, "pre-rollout"), "Progressing", ctx, {
    passed: "Pre-rollout check",
    refused: ({ name }, why) => ctx.say("Warning", halt(ctx, `pre-rollout check ${name} failed ${why}`)),
  });
}

/** The hooks of every step with traffic. */
export async function areHooksPassed(ctx: CanaryContext): Promise<boolean> {
  return allPass(hooksOf(ctx, "", "rollout"), "Progressing", ctx, {
    refused: ({ name }, why) => ctx.say("Warning", halt(ctx, `external check ${name} failed ${why}`)),
  });
}

/** The hooks after a run. The first that fails ends their list, and changes nothing else. */
export async function tellEnd(phase: "Failed" | "Succeeded", ctx: CanaryContext): Promise<void> {
  await allPass(hooksOf(ctx, "post-rollout"), phase, ctx, {
    passed: "Post-rollout check",
    refused: ({ name }, why) => ctx.say("Warning", `Post-rollout hook ${name} failed ${why}`, phaseTold(phase, ctx)),
  });
}

/** Whether a user wants the run rolled back. */
export async function isRollbackAsked(ctx: CanaryContext): Promise<boolean> {
  const isAsked = isAskedFor(rollbackAnnotation, ctx);
  if (isAsked) await ctx.say("Warning", `Rollback check ${rollbackAnnotation} passed`);
  return isAsked;
}

/** Whether a hook wants the run rolled back (reference canary 6.6). */
export async function isRollbackWanted(ctx: CanaryContext): Promise<boolean> {
  for (const hook of hooksOf(ctx, "rollback")) {
    if ((await refusal(hook, ctx.phase, ctx)) === undefined) {
      await ctx.say("Warning", `Rollback check ${hook.name} passed`);
      return true;
    }
    await ctx.say("Normal", `Rollback hook ${hook.name} not signaling a rollback`);
  }
  return false;
}
