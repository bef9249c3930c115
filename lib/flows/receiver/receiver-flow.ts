import { z } from "zod";
import { findCondition } from "../../api/condition.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredReceiver } from "../../api/kinds/receiver.ts";
import { finalizer } from "../../api/names.ts";
import { parseLive } from "../../api/parse-live.ts";
import { ReceiverSpec, ReceiverStatus } from "../../api/receiver.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { backOffMs, Failure } from "../../core/failure.ts";
import type { Flow, FlowResult, Run } from "../../core/ports/run.ts";
import { shortIntervalWarning, spreadInterval } from "../interval.ts";
import type { EventToRecord } from "../record-event.ts";
import { runContext } from "../run-context.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { checkSpec } from "./check-spec.ts";
import { saveEntry, saveNotReady, selectionRules } from "./index-entry.ts";
import type { ReceiverContext, ReceiverDeps } from "./receiver-context.ts";
import { failed, initialized, isReady, stalled, suspended, unreconciledText } from "./receiver-status.ts";
import { unreconciledEntries } from "./select-resources.ts";
import { pathOf } from "./token.ts";

/** Failures in a row, so that the waits between them grow. */
const Failures = z.object({ failures: z.number().int().min(0) });

/**
 * The reconcile of a Receiver: token, path, index, status. The webhook reads the index, so it is written before the status says that
 * the webhook exists. Looks only at present state; if nothing changed it writes nothing.
 */
export function receiverFlow(deps: ReceiverDeps): Flow {
  return async (run) => {
    const live = await deps.home.get({ ...run.key, ...servedKind(declaredReceiver) }, run.signal);
    if (live === undefined) {
      await forget(run, deps);
      return { outcome: "absent", dueInMs: undefined };
    }
    // An unreadable status counts as empty; the run writes a valid one.
    const before = ReceiverStatus.safeParse(live["status"] ?? {}).data ?? {};
    const ctx = runContext(declaredReceiver, live, before, run, deps);
    if (live.metadata.deletionTimestamp !== undefined) return finalize(ctx);
    await addFinalizer(ctx);
    try {
      return await reconcile(ctx);
    } catch (error) {
      if (!(error instanceof Failure)) throw error; // a bug, or the end of the run: the queue tries again and counts
      return fail(error, ctx);
    }
  };
}

async function reconcile(ctx: ReceiverContext): Promise<FlowResult> {
  const { before, deps, live, run } = ctx;
  const spec = parseLive(live, "spec", ReceiverSpec);
  if (spec.suspend === true) {
    await saveEntry(before.webhookPath, spec, "suspended", ctx);
    return conclude(suspended(before, ctx.now()), isReady(before) ? finished(spec) : undefined, ctx, {
      outcome: "suspended",
      dueInMs: undefined,
    });
  }
  const warning = shortIntervalWarning(spec, { ...ctx.now(), conditions: before.conditions ?? [] });
  if (warning !== undefined) await ctx.record(warning);
  await checkSpec(spec, deps.cel.withBudget(run.key), run.signal);
  const path = await pathOf(spec, ctx);
  await saveEntry(path, spec, "ready", ctx);
  const unreconciled = unreconciledEntries(spec, selectionRules(ctx));
  await warnOfUnreconciled(unreconciled, ctx);
  return conclude(initialized(before, { path, unreconciled }, ctx.now()), finished(spec), ctx, {
    outcome: "initialized",
    dueInMs: spreadInterval(parseDuration(spec.interval), deps.jitter(), deps.timing),
  });
}

/** Once: not while the condition names the same entries. */
async function warnOfUnreconciled(entries: readonly string[], ctx: ReceiverContext): Promise<void> {
  if (entries.length === 0) return;
  const message = unreconciledText(entries);
  const ready = findCondition(ctx.before.conditions ?? [], "Ready");
  if (ready?.message.endsWith(message) === true) return;
  await ctx.record({ type: "Warning", reason: "NotReconciled", message, annotations: {} });
}

function finished({ interval }: ReceiverSpec): EventToRecord {
  const message = `Reconciliation finished, next run in ${formatDuration(parseDuration(interval))}`;
  return { type: "Normal", reason: "Succeeded", message, annotations: {} };
}

/** Writes the status and the event. A requested run without a change records no event. */
async function conclude(
  status: ReceiverStatus,
  event: EventToRecord | undefined,
  ctx: ReceiverContext,
  result: FlowResult,
): Promise<FlowResult> {
  const isChanged = await ctx.conclude(status);
  const isNews = isChanged || !ctx.run.isRequested;
  if (event !== undefined && isNews) await ctx.record(event);
  return isChanged ? result : { ...result, isQuiet: true };
}

async function fail(failure: Failure, ctx: ReceiverContext): Promise<FlowResult> {
  const { before, deps, run } = ctx;
  const { reason, message, retry } = failure;
  // Without a token there is no path. After any other failure deliveries are answered that the Receiver is not ready.
  if (reason === "TokenNotFound") await deps.receivers.remove(run.fence, run.signal);
  else await saveNotReady(ctx);
  const ready = findCondition(before.conditions ?? [], "Ready");
  const isShown = ready?.status === "False" && ready.reason === reason && ready.message === message;
  const isStalled = retry === "never";
  const status = isStalled ? stalled(before, failure, ctx.now()) : failed(before, failure, ctx.now());
  const isChanged = await ctx.conclude(status);
  // A status that says the same of another generation, or of another request, is news too.
  if (!isShown || isChanged) {
    await ctx.record({ type: "Warning", reason: isStalled ? reason : "Failed", message, annotations: {} });
  }
  if (isStalled) return { outcome: "stalled", failure, dueInMs: undefined };
  const failures = Failures.safeParse(run.carried).data?.failures ?? 0;
  return {
    outcome: "failed",
    failure,
    dueInMs: backOffMs(failures, deps.timing.retryDelay),
    carried: { failures: failures + 1 },
  };
}

async function addFinalizer({ home, live, manager, run }: ReceiverContext): Promise<void> {
  if ((live.metadata.finalizers ?? []).includes(finalizer)) return;
  await writeFinalizers(live, (finalizers) => [...finalizers, finalizer], { home, manager }, run.signal);
}

async function finalize(ctx: ReceiverContext): Promise<FlowResult> {
  const { before, deps, home, live, manager, run } = ctx;
  await forget(run, deps);
  if ((live.metadata.finalizers ?? []).includes(finalizer)) {
    const withoutOurs = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);
    await writeFinalizers(live, withoutOurs, { home, manager }, run.signal);
    const { success, data: spec } = ReceiverSpec.safeParse(live["spec"]);
    // Flux's last run of one that was ready ends like any other.
    if (success && isReady(before)) await ctx.record(finished(spec));
  }
  return { outcome: "deleted", dueInMs: undefined };
}

/** Takes the webhook of an object that is gone or being deleted out of service. */
async function forget({ fence, signal }: Run, { receivers, subscriptions }: ReceiverDeps): Promise<void> {
  await receivers.remove(fence, signal);
  await subscriptions.subscribe([], fence, signal);
}
