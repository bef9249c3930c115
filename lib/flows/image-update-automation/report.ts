import { z } from "zod";
import { ConditionReason, findCondition } from "../../api/condition.ts";
import { waitsOrFailed } from "../../core/event-relation.ts";
import { backOffMs, type Failure } from "../../core/failure.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import type { WorkKey } from "../../core/work-key.ts";
import type { EnsuredRequest } from "../../image/pull-request/ensure-pull-request.ts";
import type { EventToRecord } from "../record-event.ts";
import { type AutomationContext, wasReady } from "./automation-context.ts";
import { failed, readyMessage, stalled, succeeded } from "./automation-status.ts";
import type { Pushed } from "./push-changes.ts";
import type { PushConfig } from "./push-config.ts";
import { lastSettings } from "./settings-digest.ts";
import type { Updated } from "./update-source.ts";

/** Failures in a row, so that the waits between them grow. */
const Failures = z.object({ failures: z.number().int().min(0) });

/** Writes status and event of a run that has done its work (reference image-automation 8). */
export async function reportUpdated(
  updated: Updated,
  request: EnsuredRequest | undefined,
  config: PushConfig,
  source: WorkKey,
  ctx: AutomationContext,
): Promise<void> {
  await ctx.conclude(succeeded(ctx.status(), updated.kind === "skipped" ? undefined : updated.observed, ctx.now()));
  const isRecovered = !wasReady(ctx);
  const event: EventToRecord = {
    type: "Normal",
    reason: "Succeeded",
    message: messageFor(updated, request, config, isRecovered),
    annotations: {},
  };
  const isTrace = updated.kind !== "pushed" && updated.kind !== "unrequested" && !isRecovered;
  const relation = isRecovered ? ({ kind: "recovered", from: [source] } as const) : undefined;
  await ctx.record({ ...event, isTrace, relation });
}

function messageFor(
  updated: Updated,
  request: EnsuredRequest | undefined,
  config: PushConfig,
  isRecovered: boolean,
): string {
  const requested = request === undefined ? "" : `\npull request ${request.change}: ${request.url}`;
  if (updated.kind === "pushed" || updated.kind === "unrequested")
    return `${pushSummary(updated.pushed, config)}${requested}`;
  const isNews = isRecovered || (updated.kind === "unchanged" && updated.isNews);
  return isNews ? readyMessage : "no change since last reconciliation";
}

/** As Flux says it, with the whole message of the commit. Pure. */
function pushSummary({ commit, message }: Pushed, { branch, refspec }: Pick<PushConfig, "branch" | "refspec">): string {
  const also = refspec === undefined ? "" : ` and refspecs '${refspec}'`;
  return `pushed commit '${commit.slice(0, 7)}' to branch '${branch}'${also}${message === "" ? "" : `\n${message}`}`;
}

/** Writes status and event of a run that failed, and says when the next one begins. */
export async function reportFailure(failure: Failure, ctx: AutomationContext): Promise<FlowResult> {
  const { before, deps, isAsked, run } = ctx;
  const isStalled = failure.retry === "never";
  const now = ctx.now();
  await ctx.conclude(isStalled ? stalled(ctx.status(), failure, ctx.passed, now) : failed(ctx.status(), failure, now));
  // A stalled object may still tell of the failure before it, and so does its event, as in Flux.
  const ready = findCondition(ctx.status().conditions ?? [], "Ready");
  const { reason, message } = isStalled && ready !== undefined ? ready : failure;
  const told = findCondition(before.conditions ?? [], "Ready");
  const isTold =
    told?.status === "False" &&
    told.reason === reason &&
    told.message === message &&
    told.observedGeneration === now.generation;
  if (!isTold || isAsked) {
    const relation = waitsOrFailed(failure.waitsFor);
    await ctx.record({ type: "Warning", reason: ConditionReason.parse(reason), message, annotations: {}, relation });
  }
  const settings = lastSettings(run);
  const carried = settings === undefined ? {} : { settings };
  if (isStalled) return { outcome: "stalled", failure, dueInMs: undefined, carried };
  const failures = Failures.safeParse(run.carried).data?.failures ?? 0;
  return {
    outcome: "failed",
    failure,
    dueInMs: backOffMs(failures, deps.timing.retryDelay),
    carried: { ...carried, failures: failures + 1 },
  };
}
