import { ImageUpdateAutomationSpec, ImageUpdateAutomationStatus } from "../../api/image-update-automation.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredImageUpdateAutomation } from "../../api/kinds/image-update-automation.ts";
import { finalizer } from "../../api/names.ts";
import { parseLive } from "../../api/parse-live.ts";
import { parseDuration } from "../../core/duration.ts";
import { Failure } from "../../core/failure.ts";
import type { Flow, FlowResult } from "../../core/ports/run.ts";
import { specTopic } from "../../core/topics.ts";
import type { EnsuredRequest } from "../../image/pull-request/ensure-pull-request.ts";
import { shortIntervalWarning, spreadInterval } from "../interval.ts";
import { runContext } from "../run-context.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import type { AutomationContext, AutomationDeps, Step } from "./automation-context.ts";
import { begun, isBegun, suspended, withoutPending } from "./automation-status.ts";
import { checkPullRequest, requestPull } from "./pull-request.ts";
import { reportFailure, reportUpdated } from "./report.ts";
import { checkSpec, type ResolvedSource, resolveSource, sourceKey } from "./resolve-source.ts";
import { selectPolicies } from "./select-policies.ts";
import { settingsDigest } from "./settings-digest.ts";
import { type Updated, updateSource } from "./update-source.ts";

/** Flux has no jitter for this kind. */
const exact = { jitterPercentage: 0 };

/**
 * The reconcile of an ImageUpdateAutomation: policies, repository, markers, at most one commit, push. Looks only at present state, so a
 * run may be repeated or killed anywhere; if nothing changed it writes nothing to the repository.
 */
export function imageUpdateAutomationFlow(deps: AutomationDeps): Flow {
  return async (run) => {
    const live = await deps.home.get({ ...run.key, ...servedKind(declaredImageUpdateAutomation) }, run.signal);
    if (live === undefined) {
      await deps.subscriptions.subscribe([], run.fence, run.signal);
      return { outcome: "absent", dueInMs: undefined };
    }
    // An unreadable status counts as empty; the run writes a valid one.
    const before = ImageUpdateAutomationStatus.safeParse(live["status"] ?? {}).data ?? {};
    const ctx = { ...runContext(declaredImageUpdateAutomation, live, before, run, deps), passed: new Set<Step>() };
    if (live.metadata.deletionTimestamp !== undefined) return finalize(ctx);
    await addFinalizer(ctx);
    try {
      checkSpec(live);
      const spec = parseLive(live, "spec", ImageUpdateAutomationSpec);
      if (spec.suspend === true) return await suspend(ctx);
      return await reconcile(spec, ctx);
    } catch (error) {
      if (!(error instanceof Failure)) throw error; // a bug, or the end of the run: the queue tries again and counts
      return reportFailure(error, ctx);
    }
  };
}

async function reconcile(spec: ImageUpdateAutomationSpec, ctx: AutomationContext): Promise<FlowResult> {
  const { before, deps, run } = ctx;
  const warning = shortIntervalWarning(spec, { ...ctx.now(), conditions: before.conditions ?? [] });
  if (warning !== undefined) await ctx.record(warning);
  await begin(ctx);
  const source = sourceKey(spec, ctx);
  // Before the GitRepository is read, so that no change in between is missed. Policies wake all automations of their namespace.
  await deps.subscriptions.subscribe([specTopic(source)], run.fence, run.signal);
  const policies = await selectPolicies(spec, ctx);
  ctx.passed.add("policies");
  const resolved = await resolveSource(spec, ctx);
  ctx.passed.add("source");
  await using _repository = resolved.repository;
  checkPullRequest(resolved, ctx);
  const updated = await updateSource(spec, resolved, policies, ctx);
  const request = await ensureRequest(spec, resolved, updated, ctx);
  await reportUpdated(updated, request, resolved, source, ctx);
  const dueInMs = spreadInterval(parseDuration(spec.interval), 0, exact);
  return { outcome: updated.kind, dueInMs, carried: { settings: settingsDigest(spec) } };
}

/** After the push, which a failure of the host does not undo: the status of the failure names what was pushed. */
async function ensureRequest(
  spec: ImageUpdateAutomationSpec,
  source: ResolvedSource,
  updated: Updated,
  ctx: AutomationContext,
): Promise<EnsuredRequest | undefined> {
  if (updated.kind === "skipped" || updated.kind === "unchanged") return undefined;
  try {
    return await requestPull(spec, source, updated.pushed, ctx);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    ctx.setStatus({ ...withoutPending(ctx.status(), ctx.now()), ...updated.observed });
    throw error;
  }
}

/** Shows at once that the run works on a new generation, but not again at each retry of a failure. */
async function begin(ctx: AutomationContext): Promise<void> {
  const { before } = ctx;
  ctx.setStatus(begun(before, ctx.now()));
  const isNew = before.observedGeneration !== ctx.now().generation;
  if (isNew && !isBegun(before, ctx.now())) await ctx.publish();
}

/** The request is not recorded, so it is served when the object is resumed. */
async function suspend(ctx: AutomationContext): Promise<FlowResult> {
  ctx.setStatus(suspended(ctx.before, ctx.now()));
  await ctx.publish();
  const { carried } = ctx.run;
  return { outcome: "suspended", dueInMs: undefined, ...(carried === undefined ? {} : { carried }) };
}

async function addFinalizer({ home, live, manager, run }: AutomationContext): Promise<void> {
  if ((live.metadata.finalizers ?? []).includes(finalizer)) return;
  await writeFinalizers(live, (finalizers) => [...finalizers, finalizer], { home, manager }, run.signal);
}

/** Touches neither git nor the policies. */
async function finalize({ deps, home, live, manager, run }: AutomationContext): Promise<FlowResult> {
  await deps.subscriptions.subscribe([], run.fence, run.signal);
  if ((live.metadata.finalizers ?? []).includes(finalizer)) {
    const withoutOurs = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);
    await writeFinalizers(live, withoutOurs, { home, manager }, run.signal);
  }
  return { outcome: "deleted", dueInMs: undefined };
}
