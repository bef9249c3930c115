import { z } from "zod";
import { servedKind } from "../../api/kinds/declaration.ts";
import { finalizer } from "../../api/names.ts";
import { parseLive } from "../../api/parse-live.ts";
import type { SourceSpec } from "../../api/source.ts";
import { digestOf } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import type { Subscription } from "../../core/follows.ts";
import { isJsonObject } from "../../core/json.ts";
import { refOf } from "../../core/manifest.ts";
import type { Flow, FlowResult, Run } from "../../core/ports/run.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { shortIntervalWarning } from "../interval.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { reportFailure, reportStored, wakeConsumers } from "./report.ts";
import { begun, isBegun, suspended } from "./source-conditions.ts";
import { type SourceContext, type SourceDeps, sourceContext } from "./source-context.ts";
import type { SourceKind } from "./source-kind.ts";
import { checkStoredArtifact, isStored, storeArtifact } from "./stored-artifact.ts";

/**
 * The reconcile of a source: load, check, resolve, pull, store, report. Looks only at present state, so a run may be repeated,
 * lost, doubled or killed anywhere; if nothing changed it writes nothing.
 */
export function sourceFlow<Spec extends SourceSpec>(kind: SourceKind<Spec>, deps: SourceDeps): Flow {
  return (run) => reconcile(run, kind, deps);
}

async function reconcile<Spec extends SourceSpec>(
  run: Run,
  kind: SourceKind<Spec>,
  deps: SourceDeps,
): Promise<FlowResult> {
  const live = await deps.home.get({ ...run.key, ...servedKind(kind.declared) }, run.signal);
  if (live === undefined) {
    await forget(run, deps);
    await wakeConsumers({ deps, run }, `${formatWorkKey(run.key)} is gone`);
    return { outcome: "absent", dueInMs: undefined };
  }
  // An unreadable status counts as empty; the run writes a valid one.
  const before = kind.status.safeParse(live["status"] ?? {}).data ?? {};
  const ctx = sourceContext(kind, live, before, run, deps);
  if (live.metadata.deletionTimestamp !== undefined) return finalize(ctx);
  if (kind.declared.isStatic?.(live["spec"]) === true) return clear(ctx);
  await addFinalizer(ctx);
  try {
    const spec = parseLive(live, "spec", kind.spec);
    if (spec.suspend === true) return await suspend(ctx);
    const warning = shortIntervalWarning(spec, { ...ctx.now(), conditions: before.conditions ?? [] });
    if (warning !== undefined) await ctx.record(warning);
    kind.check(spec);
    return await reconcileSource(spec, kind, ctx);
  } catch (error) {
    if (!(error instanceof Failure)) throw error; // a bug, or the end of the run: the queue tries again and counts
    return reportFailure(error, ctx);
  }
}

/** Removes what an object has of the time before it became static, unless it is suspended: after that nothing is written to it. */
async function clear(ctx: SourceContext): Promise<FlowResult> {
  const { deps, home, live, run, traits } = ctx;
  const status = live["status"];
  const hasStatus = isJsonObject(status) && Object.keys(status).length > 0;
  const isMarked = (live.metadata.finalizers ?? []).includes(finalizer);
  const spec = live["spec"];
  if ((isJsonObject(spec) && spec["suspend"] === true) || !(hasStatus || isMarked)) {
    // A source that has stalled on its spec, such as a chart, is woken by the correction.
    if (run.isRequested) await wakeConsumers({ deps, run }, `${formatWorkKey(run.key)} may have changed`);
    return { outcome: "static", dueInMs: undefined, isQuiet: true };
  }
  await forget(run, deps);
  // The finalizer first: it is written under a precondition on the version that was read.
  if (isMarked) await removeFinalizer(ctx);
  if (hasStatus) {
    const options = { manager: traits.declared.statusManager, subresource: "status" };
    const body = { status: Object.fromEntries(Object.keys(status).map((field) => [field, null])) };
    await home.patch(refOf(live), { type: "merge", body }, options, run.signal);
  }
  await wakeConsumers({ deps, run }, `${formatWorkKey(run.key)} has no artifact any more`);
  return { outcome: "static", dueInMs: undefined };
}

async function reconcileSource<Spec extends SourceSpec>(
  spec: Spec,
  kind: SourceKind<Spec>,
  ctx: SourceContext,
): Promise<FlowResult> {
  await begin(ctx);
  await checkStoredArtifact(ctx);
  // Before the origin is asked, so that no push in between is missed.
  const subscribed = await subscribe(kind.topics(spec, ctx), ctx);
  const resolved = await kind.resolve(spec, { ...ctx, since: subscribed.since });
  try {
    const pulled = isStored(resolved, ctx) ? undefined : await storeArtifact(resolved, ctx);
    const result = await reportStored(spec, { ...resolved, ...pulled?.taken }, pulled, ctx);
    return { ...result, carried: { ...result.carried, ...subscribed.carried } };
  } finally {
    await resolved.close?.();
  }
}

/** What the last run that stored its artifact had subscribed to, as a digest. */
const Subscribed = z.object({ subscribed: z.string() });

/** Subscribes, and says since when the object is subscribed to all of these: since before this run, if the last one was too. */
async function subscribe(subscriptions: readonly Subscription[], { deps, run, since }: SourceContext) {
  await deps.subscriptions.subscribe(subscriptions, run.fence, run.signal);
  const subscribed = digestOf(JSON.stringify(subscriptions)).slice("sha256:".length, "sha256:".length + 32);
  const isOld = Subscribed.safeParse(run.carried).data?.subscribed === subscribed;
  return { since: isOld ? since : deps.clock.monotonic(), carried: { subscribed } };
}

/** Shows at once that the run works on a new generation, but not again at each retry of a failure. */
async function begin(ctx: SourceContext): Promise<void> {
  const { before } = ctx;
  ctx.setStatus(begun(before, ctx.now()));
  const isNew = before.observedGeneration !== ctx.now().generation;
  if (isNew && !isBegun(before, ctx.now())) await ctx.publish();
}

async function suspend(ctx: SourceContext): Promise<FlowResult> {
  await ctx.conclude(suspended(ctx.before, ctx.now()));
  return { outcome: "suspended", dueInMs: undefined };
}

async function addFinalizer({ home, live, manager, run }: SourceContext): Promise<void> {
  if ((live.metadata.finalizers ?? []).includes(finalizer)) return;
  const withOurs = (finalizers: readonly string[]) => [...finalizers, finalizer];
  await writeFinalizers(live, withOurs, { home, manager }, run.signal);
}

/** Forgets the object, then removes our finalizer. Its artifacts are collected by their digests: other sources may have the same. */
async function finalize(ctx: SourceContext): Promise<FlowResult> {
  const { deps, live, run } = ctx;
  await forget(run, deps);
  if ((live.metadata.finalizers ?? []).includes(finalizer)) await removeFinalizer(ctx);
  await wakeConsumers({ deps, run }, `${formatWorkKey(run.key)} is deleted`);
  return { outcome: "deleted", dueInMs: undefined };
}

async function removeFinalizer({ home, live, manager, run }: SourceContext): Promise<void> {
  const withoutOurs = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);
  await writeFinalizers(live, withoutOurs, { home, manager }, run.signal);
}

/** Ends the subscriptions and removes the records of an object that is gone or being deleted. */
async function forget({ key, fence, signal }: Run, { subscriptions, records }: SourceDeps): Promise<void> {
  await subscriptions.subscribe([], fence, signal);
  await records.retain(key, "", [], fence, signal);
}
