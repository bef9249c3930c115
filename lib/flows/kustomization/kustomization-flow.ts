import { isTrue } from "../../api/condition.ts";
import { declaredKustomization } from "../../api/kinds/kustomization.ts";
import { type GroupKind, isUnreconciled } from "../../api/kinds/unreconciled.ts";
import { unsupportedText } from "../../api/kustomization.ts";
import { finalizer } from "../../api/names.ts";
import { invalid as invalidObject } from "../../api/parse-live.ts";
import { referenceFaults } from "../../api/spec-references.ts";
import { allEnded } from "../../core/concurrency.ts";
import { Failure } from "../../core/failure.ts";
import type { Flow, FlowResult, Run } from "../../core/ports/run.ts";
import { type HealthRules, parseHealthRules } from "../../health/health-rules.ts";
import { buildInput } from "../../manifests/build/build-input.ts";
import { shortIntervalWarning } from "../interval.ts";
import { TargetFault } from "../owner/target-fault.ts";
import { fetchableArtifact } from "../source/read-source.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { apply } from "./apply.ts";
import { saveInventoryUnderGeneration } from "./apply-set.ts";
import { type Attempt, beginAttempt, type Preconditions, type Reached, readCarriedState } from "./attempt.ts";
import { withCache } from "./cached-run.ts";
import {
  type Blocked,
  invalid,
  type KustomizationContext,
  type KustomizationDeps,
  load,
  openTarget,
} from "./context.ts";
import { decryptionOf, decryptionRefusal, refuseEncrypted } from "./decryption.ts";
import { checkDependencies, readyExprRefusal, subscribeForRun } from "./dependencies.ts";
import { checkHealth } from "./health.ts";
import { chooseRevision, thenTheNewest } from "./newer-revision.ts";
import { guard, plan } from "./plan.ts";
import { loadPostBuild } from "./post-build.ts";
import { prune } from "./prune.ts";
import { reportBlocked, reportEnd, reportFailure } from "./report.ts";
import { askForArtifact, resolveSource, sourceRefusal } from "./resolve-source.ts";
import { handled } from "./status.ts";

/**
 * The reconcile of a Kustomization: load, preconditions, and for a revision fetch, build, plan, guard, apply, prune, health, report. Looks
 * only at present state, so a run may be repeated, lost, doubled or killed anywhere.
 */
export function kustomizationFlow(deps: KustomizationDeps): Flow {
  return (run) => withCache(run, deps, reconcile);
}

async function reconcile(run: Run, deps: KustomizationDeps): Promise<FlowResult> {
  const loaded = await load(run, deps);
  if (loaded === undefined) return { outcome: "absent", dueInMs: undefined };
  const { ctx } = loaded;
  const running = loaded.fault === undefined ? reconcileLoaded(ctx) : reportBlocked(ctx, loaded.fault);
  // The run ends once its events are sent, however it ended. Its own error counts more than theirs.
  const [result] = await allEnded([running, running.then(ignore, ignore).then(() => ctx.eventsSent())]);
  return withTold(result, ctx);
}

/** However a run ends, the next one knows which objects were reported as not reconciled by Sluice. */
function withTold(result: FlowResult, ctx: KustomizationContext): FlowResult {
  if (ctx.live.metadata.deletionTimestamp !== undefined) return result;
  const carried = ctx.told.addTo(result.carried);
  return carried === undefined ? result : { ...result, carried };
}

const ignore = (): void => {};

async function reconcileLoaded(ctx: KustomizationContext): Promise<FlowResult> {
  const { run } = ctx;
  if (ctx.live.metadata.deletionTimestamp !== undefined) {
    // Not at the start of a function: a deletion is rare.
    const { finalize } = await import("./finalize.ts");
    return finalize(ctx, readCarriedState(run.carried));
  }
  if (!(ctx.live.metadata.finalizers ?? []).includes(finalizer)) {
    const withOurs = (finalizers: readonly string[]) => [...finalizers, finalizer];
    const { home, live } = ctx;
    await writeFinalizers(live, withOurs, { home, manager: declaredKustomization.statusManager }, run.signal);
  }
  if (ctx.kustomization.spec.suspend === true) return suspended(ctx);
  warnOfShortInterval(ctx);
  const refusal = refusalOf(ctx);
  if (refusal !== undefined) {
    // Nothing that happens elsewhere can help, and this object may not learn when another tenant pushes.
    await ctx.deps.subscriptions.subscribe([], run.fence, run.signal);
    return reportBlocked(ctx, refusal);
  }
  // Subscriptions first, then the look: a source or dependency that turns ready in between still wakes this object.
  await subscribeForRun(ctx);
  const preconditions = await checkPreconditions(ctx);
  if (preconditions.kind === "blocked") return reportBlocked(ctx, preconditions);
  const chosen = await chooseRevision(preconditions, ctx);
  return thenTheNewest(await reconcileRevision(ctx, chosen), chosen);
}

/** Brings one revision of the source into the cluster. Each step gets the result of the step before it. */
async function reconcileRevision(ctx: KustomizationContext, preconditions: Preconditions): Promise<FlowResult> {
  let attempt = beginAttempt(ctx, preconditions);
  try {
    attempt = await inOpenTarget(attempt, preconditions);
    const built = await fetchAndBuild(attempt);
    if (built === undefined) return await reportBlocked(ctx, await askForArtifact(attempt.source, ctx));
    const readable = await refuseEncrypted(built, attempt);
    const planned = await plan(readable, attempt);
    const guarded = await guard(planned, attempt);
    const applied = await apply(guarded, attempt);
    const pruned = await prune(applied, attempt);
    const health = await checkHealth(pruned, attempt);
    return await reportEnd(pruned, health, attempt);
  } catch (error) {
    return reportFailure(error, attempt);
  }
}

/** The attempt with its target open. Flux looks for the artifact and its path before that, so their faults come first. */
async function inOpenTarget(attempt: Attempt, preconditions: Preconditions): Promise<Attempt> {
  const { ctx } = attempt;
  if (ctx.remote !== "closed") return attempt;
  try {
    return beginAttempt(await openTarget(ctx), preconditions);
  } catch (fault) {
    if (!(fault instanceof TargetFault)) throw fault;
    const isThere = await fetchAndBuild(attempt).catch((error: unknown) => {
      if (error instanceof Failure && error.reason === "ArtifactFailed") throw error;
      return fault;
    });
    if (isThere === undefined) return attempt;
    throw fault;
  }
}

/** Undefined if the artifact is not there. It is fetched only if it was not built before. */
async function fetchAndBuild({ ctx, source }: Attempt): Promise<Reached | undefined> {
  const artifact = await fetchableArtifact(source, ctx);
  if (artifact === undefined) return undefined;
  const postBuild = await loadPostBuild(ctx.kustomization, { home: ctx.home, gates: ctx.deps.gates }, ctx.run.signal);
  const decryption = decryptionOf(ctx.kustomization, ctx, { namesOnly: false });
  const input = buildInput(ctx.kustomization, artifact.digest, artifact.bytes, {
    postBuild,
    decryption,
    tenant: ctx.run.key,
  });
  const built = await ctx.deps.build(input, ctx.run.signal);
  return built && { built, status: ctx.status(), applied: [], pruned: [] };
}

/** Why a run may not even read the objects that its object refers to, or undefined if it may. */
function refusalOf({ kustomization: { spec }, live, namespace, deps }: KustomizationContext): Blocked | undefined {
  const faults = referenceFaults(spec);
  if (faults.length > 0) return invalid("InvalidSpec", invalidObject(live, "spec", faults).message);
  const refusal = sourceRefusal(spec, namespace, deps) ?? readyExprRefusal(spec, namespace, deps);
  return refusal === undefined ? undefined : { ...invalid("AccessDenied", refusal), isUnobserved: true };
}

function warnOfShortInterval(ctx: KustomizationContext): void {
  const { conditions = [] } = ctx.status();
  const warning = shortIntervalWarning(ctx.kustomization.spec, { generation: ctx.generation, conditions });
  if (warning !== undefined) ctx.record(warning);
}

async function suspended(ctx: KustomizationContext): Promise<FlowResult> {
  const status = handled(ctx.status(), ctx);
  const isReady = isTrue(status.conditions ?? [], "Ready");
  if (isReady) await saveInventoryUnderGeneration(ctx);
  await ctx.write(isReady ? { ...status, observedGeneration: ctx.generation } : status);
  // Back-off, waits and outages start from the first once it is resumed; only its dependents are not woken again.
  const { announced } = readCarriedState(ctx.run.carried);
  const carried = announced === undefined ? {} : { carried: { failures: 0, announced } };
  return { outcome: "suspended", dueInMs: undefined, ...carried };
}

/** Everything that may keep a run from its revision, in Flux's order (reference 3.1, steps 5 to 9). */
async function checkPreconditions(ctx: KustomizationContext): Promise<Preconditions | Blocked> {
  const unsupported = unsupportedText(ctx.kustomization.spec, ctx.deps.sources);
  if (unsupported !== undefined) return invalid("UnsupportedField", unsupported);
  const healthRules = await healthRulesOf(ctx);
  if ("kind" in healthRules) return healthRules;
  const refusal = decryptionRefusal(ctx.kustomization.spec, ctx.deps);
  if (refusal !== undefined) return refusal;
  const source = await resolveSource(ctx);
  if (source.kind === "blocked") return source;
  return (await checkDependencies(ctx, source)) ?? { kind: "met", source, healthRules };
}

/** Parsed even where no health is checked, as in Flux. */
async function healthRulesOf({ cel, deps, kustomization, run }: KustomizationContext): Promise<HealthRules | Blocked> {
  const kinds = { isUnreconciled: (kind: GroupKind) => isUnreconciled(kind, deps.reconciled) };
  try {
    return await parseHealthRules(kustomization.spec.healthCheckExprs ?? [], { cel, ...kinds }, run.signal);
  } catch (error) {
    if (error instanceof Failure) return invalid(error.reason, error.message);
    throw error;
  }
}
