import { findCondition } from "../../api/condition.ts";
import { minIntervalMs } from "../../api/fields.ts";
import type { HelmReleaseStatus } from "../../api/helm-release-status.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { backOffMs } from "../../core/failure.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { readyTopic } from "../../core/topics.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { spreadInterval } from "../interval.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { type Carried, toCarried } from "./carried.ts";
import { handled, isReady, observed, reconciling, withConditions, withoutConditions } from "./release-status.ts";

/** Nothing is left to do: the generation is finished, and the next run follows at the interval. */
export async function reportDone(
  status: HelmReleaseStatus,
  carried: Carried,
  { ctx, chart }: Pick<ReleaseAttempt, "chart" | "ctx">,
): Promise<FlowResult> {
  await ctx.write(handled(observed(status, ctx), ctx));
  const news = `${chart.metadata.version} ${ctx.generation}`;
  const isNews = isReady(status) && (carried.announced !== news || !isReady(ctx.release.status));
  if (isNews) await wakeDependents(ctx);
  const { pass: _pass, ...rest } = carried;
  const next = { ...rest, failures: 0, ...(isReady(status) ? { announced: news } : {}) };
  return { outcome: "applied", dueInMs: nextInterval(ctx), carried: toCarried(next) };
}

/** When the next run comes where no event asks for one. */
export function nextInterval({ deps, release }: Pick<HelmReleaseContext, "deps" | "release">): number | undefined {
  const wanted = parseDuration(release.spec.interval);
  return spreadInterval(wanted === 0 ? 0 : Math.max(minIntervalMs, wanted), deps.jitter(), deps.timing);
}

/** Wakes the HelmReleases that wait for this one. */
async function wakeDependents({ deps, run }: HelmReleaseContext): Promise<void> {
  for (const dependent of await deps.subscriptions.subscribers(readyTopic(run.key), run.signal)) {
    await deps.requests.request(dependent, `${formatWorkKey(run.key)} is ready`, run.signal);
  }
}

/** No retry is left, or nothing to roll back to: only a change helps. */
export async function reportStalled(
  status: HelmReleaseStatus,
  reason: string,
  message: string,
  ctx: HelmReleaseContext,
): Promise<FlowResult> {
  const stalled = withConditions(withoutConditions(status, "Reconciling"), ctx, {
    type: "Stalled",
    status: "True",
    ...{ reason, message },
  });
  await ctx.write(handled(observed(stalled, ctx), ctx));
  const failure = failureOf(status) ?? { reason, message };
  return { outcome: "failed", failure, dueInMs: undefined, carried: toCarried({ failures: 0 }) };
}

/** The pass is over, and another one follows at once, with back-off. */
export async function reportRequeue(
  status: HelmReleaseStatus,
  carried: Carried,
  { ctx }: Pick<ReleaseAttempt, "ctx">,
): Promise<FlowResult> {
  const message = findCondition(status.conditions ?? [], "Ready")?.message ?? "";
  await ctx.write(handled(reconciling(status, { reason: "ProgressingWithRetry", message }, ctx), ctx));
  return { ...backOff(carried, ctx), ...withFailure(status) };
}

/** The failure is retried after this interval, without remediation. */
export async function reportRetry(
  status: HelmReleaseStatus,
  retryMs: number,
  carried: Carried,
  { ctx }: Pick<ReleaseAttempt, "ctx">,
): Promise<FlowResult> {
  const message = `retrying after ${formatDuration(retryMs)}`;
  await ctx.write(handled(observed(reconciling(status, { reason: "ProgressingWithRetry", message }, ctx), ctx), ctx));
  const { pass: _pass, ...rest } = carried;
  const dueInMs = spreadInterval(retryMs, ctx.deps.jitter(), ctx.deps.timing);
  return { outcome: "failed", ...withFailure(status), dueInMs, carried: toCarried({ ...rest, failures: 0 }) };
}

/** The action failed before anything was stored: it is tried again, and does not count. */
export async function reportBackoff(
  status: HelmReleaseStatus,
  carried: Carried,
  { ctx }: Pick<ReleaseAttempt, "ctx">,
): Promise<FlowResult> {
  await ctx.write(handled(status, ctx));
  return { ...backOff(carried, ctx), ...withFailure(status) };
}

/** The text of Ready for the failed action. */
function failureOf({ conditions = [] }: HelmReleaseStatus): FlowResult["failure"] {
  const ready = findCondition(conditions, "Ready");
  return ready?.status === "False" ? { reason: ready.reason, message: ready.message } : undefined;
}

function withFailure(status: HelmReleaseStatus): Pick<FlowResult, "failure"> {
  const failure = failureOf(status);
  return failure === undefined ? {} : { failure };
}

function backOff({ pass: _pass, ...carried }: Carried, { deps }: HelmReleaseContext): FlowResult {
  const dueInMs = backOffMs(carried.failures, deps.timing.retryDelay);
  return { outcome: "failed", dueInMs, carried: toCarried({ ...carried, failures: carried.failures + 1 }) };
}
