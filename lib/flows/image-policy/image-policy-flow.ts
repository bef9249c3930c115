import { z } from "zod";
import { ConditionReason, findCondition } from "../../api/condition.ts";
import { ImagePolicySpec, ImagePolicyStatus, intervalMissing } from "../../api/image-policy.ts";
import { ImageRepositoryStatus } from "../../api/image-repository.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredImagePolicy } from "../../api/kinds/image-policy.ts";
import { finalizer } from "../../api/names.ts";
import { parseLive } from "../../api/parse-live.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { waitsOrFailed } from "../../core/event-relation.ts";
import { backOffMs, Failure } from "../../core/failure.ts";
import { equal } from "../../core/json.ts";
import type { Flow, FlowResult } from "../../core/ports/run.ts";
import { sourceTopic } from "../../core/topics.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { spreadInterval } from "../interval.ts";
import { runContext } from "../run-context.ts";
import { retryAfterMs } from "../source/report.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { chooseImage } from "./choose-image.ts";
import type { ImagePolicyDeps, PolicyContext, ReferredRepository } from "./policy-context.ts";
import { begun, chosen, chosenText, failed, readyOf, stalled, succeeded, suspended } from "./policy-status.ts";
import { checkRepository, referredRepository, repositoryKey } from "./referred-repository.ts";
import { wakeAutomations } from "./wake-automations.ts";

/** Failures in a row, so that the waits between them grow. */
const Failures = z.object({ failures: z.number().int().min(0) });

/** As an interval is spread: not at all, as in Flux. */
const unspread = 0.5;

/**
 * The reconcile of an ImagePolicy: the repository, its tags, the choice, and then the automations. Looks only at present state, so a
 * run may be repeated or killed anywhere; if nothing changed it writes nothing.
 */
export function imagePolicyFlow(deps: ImagePolicyDeps): Flow {
  return async (run) => {
    const live = await deps.home.get({ ...run.key, ...servedKind(declaredImagePolicy) }, run.signal);
    if (live === undefined) {
      await deps.subscriptions.subscribe([], run.fence, run.signal);
      return { outcome: "absent", dueInMs: undefined };
    }
    // An unreadable status counts as empty; the run writes a valid one.
    const before = ImagePolicyStatus.safeParse(live["status"] ?? {}).data ?? {};
    const ctx = runContext(declaredImagePolicy, live, before, run, deps);
    if (live.metadata.deletionTimestamp !== undefined) return finalize(ctx);
    await addFinalizer(ctx);
    try {
      const spec = parseLive(live, "spec", ImagePolicySpec);
      const repository = repositoryKey(spec, ctx);
      // Before the look, so that no change in between is missed.
      await deps.subscriptions.subscribe([sourceTopic(repository)], run.fence, run.signal);
      if (spec.suspend === true) return await suspend(ctx);
      return await reconcile(spec, repository, ctx);
    } catch (error) {
      if (!(error instanceof Failure)) throw error; // a bug, or the end of the run: the queue tries again and counts
      return fail(error, ctx);
    }
  };
}

/** A pass in Flux's order (reference image-automation 3.4). */
async function reconcile(spec: ImagePolicySpec, key: WorkKey, ctx: PolicyContext): Promise<FlowResult> {
  const { before, deps, run } = ctx;
  if (spec.digestReflectionPolicy === "Always" && spec.interval === undefined) {
    throw new Failure("IntervalNotConfigured", intervalMissing);
  }
  await announceGeneration(ctx);
  const repository = await referredRepository(key, ctx);
  checkRepository(repository);
  const choice = await chooseImage(spec, repository, ctx);
  if (choice === undefined) return awaitScan(repository, ctx);
  const { passedOver, ref } = choice;
  const next = chosen(before, ref);
  const isChanged = next !== before;
  const message = chosenText(next, passedOver);
  const isWritten = await ctx.conclude(succeeded(next, message, ctx.now()));
  // A run that ended between its status and its wake-ups is repeated.
  if (isChanged || run.isRetry === true) await wakeAutomations(ctx);
  await reportChoice(message, key, ctx);
  const dueInMs =
    spec.interval === undefined ? undefined : spreadInterval(parseDuration(spec.interval), unspread, deps.timing);
  return { outcome: isChanged ? "chosen" : "unchanged", dueInMs, ...(isWritten ? {} : { isQuiet: true }) };
}

/**
 * Without tags there is nothing to choose from. If Flux, or a Sluice with another state, scanned the repository, the next scan finds
 * the tags that the policy chose from, and wakes it: until then a ready policy keeps its message.
 */
async function awaitScan({ key, live, spec }: ReferredRepository, ctx: PolicyContext): Promise<FlowResult> {
  const { before, deps, isAsked, run } = ctx;
  const { requeueDependencyMs } = deps.timing;
  const { tagCount = 0 } = ImageRepositoryStatus.safeParse(live["status"] ?? {}).data?.lastScanResult ?? {};
  const isScanAhead = tagCount > 0 && spec.suspend !== true;
  const isSettled = readyOf(before)?.status === "True" && before.observedGeneration === ctx.now().generation;
  if (isScanAhead && isSettled && !isAsked) {
    if (run.isRetry === true) await wakeAutomations(ctx);
    // No word for an object that is not ready: it is.
    return { outcome: "unscanned", dueInMs: requeueDependencyMs, isQuiet: true };
  }
  const message = `retrying in ${formatDuration(requeueDependencyMs)} error: no tags in database`;
  throw new Failure("DependencyNotReady", message, { waitsFor: key });
}

/** Says that a run is at work on a new spec. A policy that is tried again keeps its failure. */
async function announceGeneration(ctx: PolicyContext): Promise<void> {
  const { before } = ctx;
  const { generation } = ctx.now();
  const ready = readyOf(before);
  const isRetry = ready?.status === "False" && ready.observedGeneration === generation;
  if (before.observedGeneration !== generation && !isRetry) await ctx.publish(begun(before, ctx.now()));
}

/** News is what Alerts send; that nothing has changed is for those who look at the object. */
async function reportChoice(message: string, key: WorkKey, ctx: PolicyContext): Promise<void> {
  const ready = readyOf(ctx.before);
  const isNews = ready?.status !== "True" || ready.message !== message;
  const relation = ready?.status === "False" ? ({ kind: "recovered", from: [key] } as const) : undefined;
  await ctx.record({ type: "Normal", reason: "Succeeded", message, annotations: {}, relation, isTrace: !isNews });
}

async function fail(failure: Failure, ctx: PolicyContext): Promise<FlowResult> {
  const { before, deps, run } = ctx;
  const { retry, waitsFor } = failure;
  const isStalled = retry === "never";
  const status = (isStalled ? stalled : failed)(ctx.status(), failure, ctx.now());
  await ctx.conclude(status);
  if (run.isRetry === true) await wakeAutomations(ctx);
  if (ctx.isAsked || !isSaid(status, before)) {
    // As in Flux the event says what Ready says, which of a stalled object may be an earlier failure.
    const said = readyOf(status) ?? failure;
    const relation = waitsOrFailed(waitsFor);
    await ctx.record({
      type: "Warning",
      reason: ConditionReason.parse(said.reason),
      message: said.message,
      annotations: {},
      relation,
    });
  }
  if (isStalled) return { outcome: "stalled", failure, dueInMs: undefined };
  if (retry === "dependency") return { outcome: "waiting", failure, dueInMs: deps.timing.requeueDependencyMs };
  const failures = Failures.safeParse(run.carried).data?.failures ?? 0;
  return {
    outcome: "failed",
    failure,
    dueInMs: Math.max(backOffMs(failures, deps.timing.retryDelay), retryAfterMs(failure)),
    carried: { failures: failures + 1 },
  };
}

/** Whether the status of before says of the failure what the new one does. */
function isSaid(status: ImagePolicyStatus, before: ImagePolicyStatus): boolean {
  return ["Ready", "Stalled"].every((type) => {
    const [said, known] = [status, before].map(({ conditions = [] }) => findCondition(conditions, type));
    return equal(said, known);
  });
}

async function suspend(ctx: PolicyContext): Promise<FlowResult> {
  await ctx.conclude(suspended(ctx.before, ctx.now()));
  return { outcome: "suspended", dueInMs: undefined };
}

async function addFinalizer({ home, live, manager, run }: PolicyContext): Promise<void> {
  if ((live.metadata.finalizers ?? []).includes(finalizer)) return;
  await writeFinalizers(live, (finalizers) => [...finalizers, finalizer], { home, manager }, run.signal);
}

async function finalize({ deps, home, live, manager, run }: PolicyContext): Promise<FlowResult> {
  await deps.subscriptions.subscribe([], run.fence, run.signal);
  if ((live.metadata.finalizers ?? []).includes(finalizer)) {
    const withoutOurs = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);
    await writeFinalizers(live, withoutOurs, { home, manager }, run.signal);
  }
  return { outcome: "deleted", dueInMs: undefined };
}
