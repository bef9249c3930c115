import { type Condition, isTrue } from "../../api/condition.ts";
import { minIntervalMs } from "../../api/fields.ts";
import { retryIntervalMs } from "../../api/kustomization.ts";
import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { allEnded } from "../../core/concurrency.ts";
import { cutMessage } from "../../core/cut-text.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { waitsOrFailed } from "../../core/event-relation.ts";
import { backOffMs, Failure, messageOf, outcomeOfWait, type Retry } from "../../core/failure.ts";
import { equal } from "../../core/json.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { readyTopic } from "../../core/topics.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { maskSecrets } from "../../manifests/secrets.ts";
import type { Said } from "../conditions.ts";
import { spreadInterval } from "../interval.ts";
import { TargetFault } from "../owner/target-fault.ts";
import { saveInventoryUnderGeneration } from "./apply-set.ts";
import {
  type Attempt,
  attempted,
  elapsedText,
  healthOf,
  progressText,
  type Reached,
  readCarriedState,
  StepFailed,
} from "./attempt.ts";
import type { Blocked, BuiltManifests, KustomizationContext } from "./context.ts";
import { dependencyKeys } from "./dependencies.ts";
import type { Health } from "./health.ts";
import { type Finished, handled, isShownOfLate, withConditions, withoutConditions, withSnapshot } from "./status.ts";

/** Reports how the run ended, and answers when to run again. */
export async function reportEnd(reached: Reached, health: Health, attempt: Attempt): Promise<FlowResult> {
  return health.kind === "waiting" ? health.result : reportSuccess(reached, health, attempt);
}

type Healthy = Extract<Health, { readonly kind: "healthy" }>;

/**
 * Reports that the revision is in the cluster, wakes the dependent Kustomizations, and returns when to check again. Status, events
 * and history go at the same time. The dependents are woken after the status is written. A periodic run without any change leaves the
 * status as it is, so that it is the same for the next one; its history counts the run later.
 */
async function reportSuccess(reached: Reached, health: Healthy, attempt: Attempt): Promise<FlowResult> {
  const { ctx, source } = attempt;
  const before = ctx.kustomization.status;
  const wanted = parseDuration(ctx.kustomization.spec.interval);
  const interval = wanted === 0 ? 0 : Math.max(minIntervalMs, wanted);
  recordSuccess(health, attempt, interval);
  const announced = `${source.revision} ${ctx.generation}`;
  const { announced: known, unshown = 0 } = readCarriedState(ctx.run.carried);
  const isNews = !isTrue(before.conditions ?? [], "Ready") || known !== announced;
  // An unchanged run each interval would be a write unit each, which is a fifth of its price.
  const isRemembered = isNews || hasChanged(reached);
  const next = successStatus(reached, health, unshown, attempt);
  const isShown = isRemembered || ctx.run.isRequested || saysMore(next, ctx);
  const write = async (): Promise<void> => {
    await ctx.write(next);
    if (isNews) await wakeDependents(ctx);
  };
  await allEnded([
    isShown ? write() : Promise.resolve(),
    isRemembered ? remember("ReconciliationSucceeded", reached, attempt) : Promise.resolve(),
  ]);
  const dueInMs = spreadInterval(interval, ctx.deps.jitter(), ctx.deps.timing);
  return {
    outcome: "applied",
    dueInMs,
    carried: { failures: 0, announced, ...(isShown ? {} : { unshown: unshown + 1 }) },
    ...(isRemembered ? {} : { isQuiet: true }),
  };
}

/** Whether a status has news besides one more unchanged run, or is due since the last one was written long ago. */
function saysMore(next: KustomizationStatus, ctx: KustomizationContext): boolean {
  return !equal(lasting(ctx.status()), lasting(next)) || !isShownOfLate(ctx.status(), ctx.deps.clock.now());
}

/** A status without what differs in each run: its history, and how long the health check has taken, whose text moves its time. */
function lasting({ history: _history, conditions = [], ...status }: KustomizationStatus): object {
  const isPassed = ({ type, status: is }: Condition): boolean => type === "Healthy" && is === "True";
  return {
    ...status,
    conditions: conditions.map((one) => (isPassed(one) ? { ...one, message: "", lastTransitionTime: "" } : one)),
  };
}

function hasChanged({ applied, pruned }: Pick<Reached, "applied" | "pruned">): boolean {
  return (
    applied.some(({ change }) => change === "created" || change === "configured") ||
    pruned.some(({ kind }) => kind === "deleted")
  );
}

/** That the health check passed, and that the run is over: Flux's events, in Flux's order. */
function recordSuccess(health: Healthy, attempt: Attempt, interval: number): void {
  const { ctx, source, annotations } = attempt;
  if (health.message !== undefined && isHealthNews(ctx.kustomization.status, health, source.revision)) {
    const message = health.unknown === undefined ? health.message : `${health.message}. ${health.unknown}`;
    ctx.record({ type: "Normal", reason: "Progressing", message, annotations });
  }
  const took = elapsedText(attempt, attempt.startedAt);
  const message = `Reconciliation finished in ${took}, next run in ${formatDuration(interval)}`;
  const metadata = { ...annotations, "kustomize.toolkit.fluxcd.io/commit_status": "update" };
  // A run that ended between its status and this event has left Ready=True, and no word of its success.
  const { announced } = readCarriedState(ctx.run.carried);
  const isRecovered = announced === undefined || !isTrue(ctx.kustomization.status.conditions ?? [], "Ready");
  const relation = isRecovered
    ? ({ kind: "recovered", from: [source.key, ...dependencyKeys(ctx)] } as const)
    : undefined;
  ctx.record({ type: "Normal", reason: "ReconciliationSucceeded", message, annotations: metadata, relation });
}

function successStatus(
  { built, status }: Reached,
  { message: health, unknown }: Healthy,
  unshown: number,
  attempt: Attempt,
): KustomizationStatus {
  const { ctx, source, startedAt } = attempt;
  const { revision, originRevision } = source;
  const now = ctx.deps.clock.now();
  const finished = {
    digest: built.digest,
    key: built.carriesSecret ? ctx.deps.installationKey : undefined,
    status: "ReconciliationSucceeded",
    durationMs: now - startedAt,
    revision,
    originRevision,
    unshown,
  };
  const { lastAppliedOriginRevision: _former, ...rest } = status;
  const applied: KustomizationStatus = {
    ...attempted(rest, attempt),
    observedGeneration: ctx.generation,
    lastAppliedRevision: revision,
    ...(originRevision === undefined ? {} : { lastAppliedOriginRevision: originRevision }),
    history: [...withSnapshot(status.history ?? [], finished, now)],
  };
  const ready = {
    type: "Ready",
    status: "True",
    reason: "ReconciliationSucceeded",
    message: `Applied revision: ${revision}`,
  } as const;
  const cleared = withoutConditions(applied, "Stalled", ...(health === undefined ? ["Healthy"] : []));
  const healthy = health === undefined ? [] : [healthyCondition(health, unknown)];
  return handled(withConditions(cleared, ctx, ready, ...healthy), ctx);
}

/** Objects that are not reconciled keep Healthy from being True; they do not affect Ready. */
function healthyCondition(passed: string, unknown: string | undefined): Said {
  return unknown === undefined
    ? { type: "Healthy", status: "True", reason: "Succeeded", message: passed }
    : { type: "Healthy", status: "Unknown", reason: "NotReconciled", message: unknown };
}

/** Whether a passed health check is worth an event: it was not healthy before the check, or a new revision changed something. */
function isHealthNews(before: KustomizationStatus, { unknown = "True", wait }: Healthy, revision: string): boolean {
  const { changed, healthBefore = healthOf(before) } = wait;
  return healthBefore !== unknown || (changed && before.lastAppliedRevision !== revision);
}

async function wakeDependents({ deps, run }: KustomizationContext): Promise<void> {
  const reason = `${formatWorkKey(run.key)} is ready`;
  for (const dependent of await deps.subscriptions.subscribers(readyTopic(run.key), run.signal)) {
    await deps.requests.request(dependent, reason, run.signal);
  }
}

/** The phase that a failure ended: its progress message stays in Reconciling. */
function phaseOf(failure: Failure): "fetch" | "build" | "apply" | "health" {
  const { reason } = failure;
  if (reason === "ArtifactFailed") return "fetch";
  if (reason === "BuildFailed" || failure instanceof TargetFault) return "build";
  return reason === "HealthCheckFailed" ? "health" : "apply";
}

/** The failures that reached the cluster; only these enter the history (reference 3.18). */
const counted = new Set(["ReconciliationFailed", "PruneFailed", "HealthCheckFailed"]);

const nothingBuilt = { manifests: [], secrets: [] };

/**
 * Reports that an attempt failed: Ready=False with the reason, Reconciling with the phase and `ProgressingWithRetry`. Values of
 * Secrets of the build are left out, wherever the failure quotes them.
 *
 * @throws the error itself, unless it is a `Failure` or a {@link StepFailed}
 */
export async function reportFailure(error: unknown, attempt: Attempt): Promise<FlowResult> {
  if (!(error instanceof StepFailed || error instanceof Failure)) throw error;
  const { ctx, annotations } = attempt;
  const { failure, reached, health } =
    error instanceof StepFailed ? error : { failure: error, reached: undefined, health: undefined };
  const { reason } = failure;
  const shown = (text: string): string => cutMessage(maskSecrets(text, reached?.built ?? nothingBuilt));
  const message = shown(failure.message);
  const phase = phaseOf(failure);
  const before = reached?.status ?? ctx.status();
  const tried = phase === "fetch" ? before : attempted(before, attempt);
  const status = withConditions(
    withoutConditions(tried, "Stalled"),
    ctx,
    { type: "Reconciling", status: "True", reason: "ProgressingWithRetry", message: progressText(phase, attempt) },
    { type: "Ready", status: "False", reason, message },
    ...(health === undefined ? [] : [{ type: "Healthy", status: "False", reason, message: shown(health) } as const]),
  );
  const finished = finishedAttempt(reason, reached?.built, attempt);
  const history = finished && withSnapshot(before.history ?? [], finished, ctx.deps.clock.now());
  await ctx.write(handled(history === undefined ? status : { ...status, history: [...history] }, ctx));
  const told = failure instanceof TargetFault ? shown(failure.event) : message;
  ctx.record({ type: "Warning", reason, message: told, annotations, relation: waitsOrFailed(failure.waitsFor) });
  await remember(reason, reached ?? { applied: [], pruned: [] }, attempt);
  const { failures } = readCarriedState(ctx.run.carried);
  const dueInMs = retryInMs(failure.retry === "never" ? "interval" : failure.retry, failures, ctx);
  return { outcome: "failed", failure: { reason, message }, dueInMs, carried: { failures: failures + 1 } };
}

function finishedAttempt(
  reason: string,
  built: BuiltManifests | undefined,
  { ctx, source, startedAt }: Attempt,
): Finished | undefined {
  if (built === undefined || !counted.has(reason)) return undefined;
  const { revision, originRevision } = source;
  const durationMs = ctx.deps.clock.now() - startedAt;
  const key = built.carriesSecret ? ctx.deps.installationKey : undefined;
  return { digest: built.digest, key, status: reason, durationMs, revision, originRevision };
}

/**
 * Adds the end of an attempt, and what its last run did, to the history. `outcome`: the reason of the Ready condition. A run that
 * succeeds again and changes nothing is not remembered.
 */
async function remember(
  outcome: string,
  { applied, pruned }: Pick<Reached, "applied" | "pruned">,
  { ctx, source, startedAt }: Attempt,
): Promise<void> {
  const at = ctx.deps.clock.now();
  const count = (change: string) => applied.filter((object) => object.change === change).length;
  const record = {
    at,
    revision: source.revision,
    outcome,
    durationMs: at - startedAt,
    created: count("created"),
    configured: count("configured"),
    unchanged: count("unchanged"),
    deleted: pruned.filter(({ kind }) => kind === "deleted").length,
  };
  try {
    await ctx.deps.history.append(ctx.run.key, record, ctx.run.signal);
  } catch (error) {
    ctx.run.signal.throwIfAborted();
    // Nothing depends on the history, so no run is repeated for it.
    ctx.deps.log.warn("end of a run not remembered", { ...ctx.run.key, error: messageOf(error) });
  }
}

/** Reports why a run could not work on its revision, and answers when to try again. */
export async function reportBlocked(ctx: KustomizationContext, blocked: Blocked): Promise<FlowResult> {
  const { reason, message, stalled, event, waitsFor } = blocked;
  const ready = { type: "Ready", status: "False", reason, message } as const;
  const status = ctx.status();
  const said = stalled
    ? withConditions(withoutConditions(status, "Reconciling"), ctx, ready, {
        ...ready,
        type: "Stalled",
        status: "True",
      })
    : withConditions(withoutConditions(status, "Stalled"), ctx, ready);
  const next = handled(said, ctx);
  // Only a change of the object helps, so this generation is done with: a client that waits for it need not wait longer.
  const isDone = stalled === true && blocked.isUnobserved !== true;
  if (isDone) await saveInventoryUnderGeneration(ctx);
  await ctx.write(isDone ? { ...next, observedGeneration: ctx.generation } : next);
  const relation = waitsFor === undefined ? ({ kind: "failed" } as const) : ({ kind: "waits", ...waitsFor } as const);
  if (event !== undefined) ctx.record({ ...event, reason, annotations: blocked.annotations ?? {}, relation });
  const { failures } = readCarriedState(ctx.run.carried);
  const carried = { failures: failures + 1 };
  const outcome = stalled ? "stalled" : outcomeOfWait(blocked);
  return { outcome, failure: { reason, message }, dueInMs: retryInMs(blocked.retry, failures, ctx), carried };
}

/** When a run that failed is tried again without an event, in milliseconds; undefined for never. */
function retryInMs(retry: Retry, failures: number, ctx: KustomizationContext): number | undefined {
  switch (retry) {
    case "never":
      return undefined;
    case "dependency":
      return ctx.deps.timing.requeueDependencyMs;
    case "interval":
      return retryIntervalMs(ctx.kustomization.spec) ?? backOffMs(failures, ctx.deps.timing.retryDelay);
    case "soon":
    case "backoff":
      return backOffMs(failures, ctx.deps.timing.retryDelay);
  }
}
