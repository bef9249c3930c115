import { isUnreconciled } from "../../api/kinds/unreconciled.ts";
import { finalizer } from "../../api/names.ts";
import { allEnded } from "../../core/concurrency.ts";
import { digestOf } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import { canonicalJson } from "../../core/json.ts";
import { HelmEngineError } from "../../core/ports/helm-engine.ts";
import type { Flow, FlowResult } from "../../core/ports/run.ts";
import { type HealthRules, parseHealthRules } from "../../health/health-rules.ts";
import type { ReleaseValues } from "../../helm/read-values.ts";
import { releaseNames } from "../../helm/release-names.ts";
import { secretReleaseStore } from "../../helm/secret-release-store.ts";
import { commonMetadataDigest, postRenderersDigest } from "../../helm/spec-digest.ts";
import { TargetFault } from "../owner/target-fault.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { hidingIn } from "./actions/hide-secrets.ts";
import { releaseManager } from "./actions/hook-object.ts";
import { releaseActions } from "./actions/release-actions.ts";
import { postRenderOf } from "./actions/render.ts";
import { recordLimits } from "./actions/revise.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";
import type { HelmReleaseContext, HelmReleaseDeps } from "./attempt/context.ts";
import { Blocked, reportBlocked, terminal } from "./blocked.ts";
import { type Carried, readCarried } from "./carried.ts";
import { findChart } from "./chart-source.ts";
import { applyChartTemplate } from "./chart-template.ts";
import { checkDependencies, subscribeForRun } from "./dependencies.ts";
import { load, openTarget } from "./load.ts";
import { prepareRelease } from "./prepare.ts";
import { releaseLoop } from "./release-loop.ts";
import { handled, observed, reconciling } from "./release-status.ts";
import { changedTarget, noteAttempt } from "./target-change.ts";
import { readValues } from "./values.ts";

/**
 * The reconcile of a HelmRelease: load, preconditions, chart and values, and the release loop. Looks only at present state, so a run may be
 * repeated, lost, doubled or killed anywhere.
 */
export function helmReleaseFlow(deps: HelmReleaseDeps): Flow {
  return async (run) => {
    const loaded = await load(run, deps);
    if (loaded === undefined) return { outcome: "absent", dueInMs: undefined };
    const { ctx, fault } = loaded;
    const running =
      fault === undefined ? reconcile(ctx) : reportBlocked(terminal(fault.reason, fault.message), { failures: 0 }, ctx);
    // The run ends once its events are sent, however it ended. Its own error counts more than theirs.
    const [result] = await allEnded([running, running.then(ignore, ignore).then(() => ctx.eventsSent())]);
    await ctx.write(ctx.status());
    return result;
  };
}

const ignore = (): void => {};

async function reconcile(ctx: HelmReleaseContext): Promise<FlowResult> {
  const { live, run } = ctx;
  if (live.metadata.deletionTimestamp !== undefined) {
    // Not at the start of a function: a deletion is rare.
    const { endRelease } = await import("./end.ts");
    return endRelease(ctx);
  }
  if (!(live.metadata.finalizers ?? []).includes(finalizer)) {
    const withOurs = (finalizers: readonly string[]) => [...finalizers, finalizer];
    await writeFinalizers(live, withOurs, { home: ctx.home, manager: releaseManager }, run.signal);
  }
  if (ctx.release.spec.suspend === true) return suspended(ctx);
  const carried = readCarried(run.carried);
  let attempt: ReleaseAttempt | undefined;
  try {
    const prepared = await prepare(ctx, carried);
    if ("outcome" in prepared) return prepared;
    attempt = prepared.attempt;
    return await releaseLoop(attempt, releaseActions, prepared.carried);
  } catch (error) {
    const blocked = blockedBy(error);
    return reportBlocked(attempt === undefined ? blocked : blocked.shownBy(await hidingIn(attempt, [])), carried, ctx);
  }
}

/** The other possible ends of a run; any other error is rethrown. */
function blockedBy(error: unknown): Blocked {
  if (error instanceof Blocked) return error;
  if (error instanceof TargetFault) {
    return new Blocked("RESTClientError", error.message, {
      retry: "backoff",
      event: { type: "Warning", message: error.event },
      cause: error,
    });
  }
  if (error instanceof HelmEngineError) {
    const { message } = error;
    return new Blocked("StateError", message, { retry: "backoff", event: { type: "Warning", message }, cause: error });
  }
  if (error instanceof Failure) {
    const { message, reason, retry } = error;
    const isForGood = retry === "never";
    return new Blocked(reason, message, {
      retry: isForGood ? "terminal" : "backoff",
      event: { type: "Warning", message },
      waitsFor: error.waitsFor,
      cause: error,
    });
  }
  throw error;
}

/** Everything before the release itself, in Flux's order (reference helmrelease 7, steps 4 to 15). */
async function prepare(
  closed: HelmReleaseContext,
  carried: Carried,
): Promise<FlowResult | { readonly attempt: ReleaseAttempt; readonly carried: Carried }> {
  const healthRules = await healthRulesOf(closed);
  // Subscriptions first, then the look: a source or dependency that turns ready in between still wakes this object.
  await subscribeForRun(closed);
  await applyChartTemplate(closed);
  noteBeginning(closed, carried);
  await checkDependencies(closed);
  const source = await findChart(closed);
  const values = await readValues(closed);
  const prepared = await prepareRelease(source, values, carried.prepared, closed);
  const ctx = await openTarget(closed);
  const next = { ...carried, prepared: prepared.carried };
  const attempt = attemptOf(ctx, { healthRules, prepared, values });
  const unended = await changedTarget(attempt, next);
  if (unended !== undefined) return unended;
  noteAttempt(attempt);
  return { attempt, carried: next };
}

/**
 * The run has begun, or goes on to wait for an action, which the status names then. The status says so from the first write on: none is
 * needed where the run finds the release as wanted.
 */
function noteBeginning(ctx: HelmReleaseContext, { pass }: Carried): void {
  if (pass?.wait !== undefined && pass.generation === ctx.generation) return;
  const { observedGeneration } = ctx.status();
  const isKnown = observedGeneration === ctx.generation && ctx.requestedAt === ctx.status().lastHandledReconcileAt;
  if (isKnown) return;
  ctx.note(reconciling(ctx.status(), { reason: "Progressing", message: "Fulfilling prerequisites" }, ctx));
}

interface Parts {
  readonly healthRules: HealthRules;
  readonly prepared: Awaited<ReturnType<typeof prepareRelease>>;
  readonly values: ReleaseValues;
}

function attemptOf(ctx: HelmReleaseContext, { healthRules, prepared, values }: Parts): ReleaseAttempt {
  const { deps, release, run } = ctx;
  const { spec } = release;
  const names = releaseNames(spec, ctx);
  const tenant = { cluster: run.key.cluster, namespace: ctx.namespace };
  const { bytes, carried, configDigest, metadata, ociDigest, versionSuffix } = prepared;
  const digests = {
    postRenderersDigest: postRenderersDigest(spec.postRenderers),
    commonMetadataDigest: commonMetadataDigest(spec.commonMetadata),
  };
  return {
    ctx,
    names,
    chart: { bytes, metadata, ociDigest, versionSuffix },
    ...values,
    configDigest,
    postRender: postRenderOf(spec, ctx),
    ...digests,
    healthRules,
    store: secretReleaseStore(names, { cluster: ctx.target, helm: deps.helm, clock: deps.clock, tenant }),
    observe: (record, oci) => deps.helm.observe(record.bytes, { tenant, ociDigest: oci }, recordLimits, run.signal),
    token: digestOf(canonicalJson([carried.key, { ...names }, digests])),
  };
}

async function healthRulesOf({ cel, deps, release, run }: HelmReleaseContext): Promise<HealthRules> {
  const kinds = {
    isUnreconciled: (kind: Parameters<typeof isUnreconciled>[0]) => isUnreconciled(kind, deps.reconciled),
  };
  return parseHealthRules(release.spec.healthCheckExprs ?? [], { cel, ...kinds }, run.signal);
}

async function suspended(ctx: HelmReleaseContext): Promise<FlowResult> {
  await ctx.write(handled(observed(ctx.status(), ctx), ctx));
  return { outcome: "suspended", dueInMs: undefined };
}
