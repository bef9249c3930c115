import { findCondition, isTrue } from "../../api/condition.ts";
import type { HelmReleaseStatus } from "../../api/helm-release-status.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { Failure } from "../../core/failure.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { missingRollbackTarget, type NextAction, nextAction } from "../../helm/next-action.ts";
import { releaseState } from "../../helm/release-state.ts";
import type { StoredRevision } from "../../helm/release-store.ts";
import { ignoresTestFailures, retryIntervalMs } from "../../helm/remediation.ts";
import { fullReleaseName, newest, truncated, versionedChart } from "../../helm/snapshot.ts";
import { withObservedDigests } from "./action-end.ts";
import type { Drift } from "./attempt/action.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";
import { begun, runAction } from "./carry-out.ts";
import { correctDrift, reportDrift } from "./drift-report.ts";
import { type ActionName, type Loop, typeOf } from "./loop-state.ts";
import { endBeforeRepeat } from "./pass-end.ts";
import { reconciling, summarise, withConditions, withoutConditions } from "./release-status.ts";
import { reportDone, reportStalled } from "./report.ts";
import { unlock } from "./unlock.ts";
import { wantedConfigDigest } from "./wanted-config-digest.ts";

/** The next action for the present release. */
export async function nextStep(last: StoredRevision | undefined, loop: Loop): Promise<FlowResult | Loop> {
  const { attempt, isForced } = loop;
  const { chart, commonMetadataDigest, ctx, postRenderersDigest } = attempt;
  const { spec } = ctx.release;
  const configDigest = await wantedConfigDigest(last, loop.status, attempt);
  const wanted = {
    ...{ spec, status: loop.status, generation: ctx.generation, chart: chart.metadata },
    ...{ configDigest, postRenderersDigest, commonMetadataDigest },
  };
  const state = releaseState(last, wanted);
  let status = state.kind === "settled" || state.kind === "untested" ? settled(loop) : loop.status;
  if (state.kind === "settled" && !isForced) {
    const drift = await driftOf(last, loop);
    if (drift?.isDrifted === true && last !== undefined) return drifted(drift, last, { ...loop, status });
    if (drift !== undefined) status = withConditions(status, ctx, noDrift);
  }
  return take(nextAction(state, { spec, status, isForced }), last, { ...loop, status });
}

async function take(action: NextAction, last: StoredRevision | undefined, loop: Loop): Promise<FlowResult | Loop> {
  const { attempt } = loop;
  switch (action.kind) {
    case "done":
      return done(last, loop);
    case "stalled":
      return reportStalled(loop.status, action.reason, action.message, attempt.ctx);
    case "undecidable":
      throw new Failure("StateError", `Could not determine release state: ${action.reason}`);
    case "unlock":
      return loop.ran.has("unlock") ? endBeforeRepeat(loop) : unlocked(last, loop);
    case "install":
    case "upgrade":
    case "rollback":
    case "uninstall":
    case "test":
      if (loop.ran.has(typeOf[action.kind])) return endBeforeRepeat(loop);
      if (action.kind === "rollback") {
        const other = await instead(action.toVersion, loop);
        if (other !== undefined) return take(other, last, loop);
      }
      return begin(action, last, loop);
  }
}

async function begin(
  action: Extract<NextAction, { readonly kind: ActionName }>,
  last: StoredRevision | undefined,
  loop: Loop,
): Promise<FlowResult | Loop> {
  const { attempt } = loop;
  let { status } = loop;
  if (action.kind === "upgrade" && action.forgets === true) {
    const { history: _history, ...rest } = status;
    status = rest;
  }
  if (typeOf[action.kind] === "remediate") status = withoutOldHistory(status, attempt);
  status = await begun(action.kind, { ...loop, status });
  return runAction(action.kind, last, { ...loop, status, startedAt: attempt.ctx.deps.clock.now(), wait: undefined });
}

/** The history as far as a remediation may need it. */
function withoutOldHistory(status: HelmReleaseStatus, { ctx }: ReleaseAttempt): HelmReleaseStatus {
  const { history = [] } = status;
  return { ...status, history: [...truncated(history, ignoresTestFailures(ctx.release.spec, status))] };
}

/** What replaces a rollback whose target is gone or has changed since; undefined if it is unchanged. */
async function instead(toVersion: number, { attempt, status }: Loop): Promise<NextAction | undefined> {
  const snapshot = (status.history ?? []).find(({ version }) => version === toVersion);
  const target = await attempt.store.read(toVersion, snapshot?.ociDigest ?? "", attempt.ctx.run.signal);
  if (target === undefined) return missingRollbackTarget;
  return snapshot?.digest === target.observed.digest ? undefined : { kind: "upgrade" };
}

const noDrift = {
  type: "Drifted",
  status: "False",
  reason: "NoDriftDetected",
  message: "No drift detected against the cluster state",
} as const;

/** The required part of the history, and the conditions of a release that is as wanted without an action (reference 8.2, 8.5). */
function settled({ attempt, status }: Loop): HelmReleaseStatus {
  const { ctx } = attempt;
  const { spec } = ctx.release;
  const isRetried = retryIntervalMs(status.lastAttemptedReleaseAction, spec) !== undefined;
  const history = status.history ?? [];
  const kept = isRetried ? newest(history) : truncated(history, ignoresTestFailures(spec, status));
  const [current] = kept;
  let next: HelmReleaseStatus = { ...status, history: [...kept] };
  if (current === undefined) return next;
  const about = `for release ${fullReleaseName(current)} with chart ${versionedChart(current)}`;
  const said = (words: "install" | "upgrade") =>
    ({
      type: "Released",
      status: "True",
      reason: words === "install" ? "InstallSucceeded" : "UpgradeSucceeded",
      message: `Helm ${words} succeeded ${about}`,
    }) as const;
  if (isTrue(next.conditions ?? [], "Remediated")) {
    next = withConditions(withoutConditions(next, "Remediated"), ctx, said("upgrade"));
  }
  const released = findCondition(next.conditions ?? [], "Released");
  if (released?.reason === "InstallFailed") next = withConditions(next, ctx, said("install"));
  if (released?.reason === "UpgradeFailed") next = withConditions(next, ctx, said("upgrade"));
  return next;
}

async function driftOf(last: StoredRevision | undefined, { actions, attempt }: Loop): Promise<Drift | undefined> {
  const { mode = "disabled" } = attempt.ctx.release.spec.driftDetection ?? {};
  return mode === "disabled" || last === undefined ? undefined : actions.findDrift(attempt, last);
}

async function drifted(drift: Drift, last: StoredRevision, loop: Loop): Promise<FlowResult | Loop> {
  const { actions, attempt } = loop;
  const { ctx } = attempt;
  const status = reportDrift(drift, loop.status, ctx);
  if (ctx.release.spec.driftDetection?.mode !== "enabled") return done(last, { ...loop, status });
  if (loop.ran.has("drift")) return endBeforeRepeat({ ...loop, status });
  const timeout = formatDuration(parseDuration(ctx.release.spec.timeout ?? "5m"));
  const message = `Running 'correct cluster drift' action with timeout of ${timeout}`;
  const said = { reason: "Progressing", message: "correcting cluster drift" } as const;
  const working = withConditions(reconciling(status, { reason: "Progressing", message }, ctx), ctx, {
    type: "Ready",
    status: "Unknown",
    ...said,
  });
  await ctx.write(working);
  const after = correctDrift(await actions.correctDrift(attempt, last, drift), working, ctx);
  return { ...loop, status: summarise(after, ctx), ran: new Set([...loop.ran, "drift"]) };
}

async function done(last: StoredRevision | undefined, loop: Loop): Promise<FlowResult> {
  const { attempt, carried } = loop;
  const { ctx, token } = attempt;
  const settledBy =
    last === undefined
      ? {}
      : { settled: { token, generation: ctx.generation, uid: last.uid, resourceVersion: last.resourceVersion } };
  const summary = summarise(withoutConditions(loop.status, "Reconciling"), ctx);
  return reportDone(withObservedDigests(summary, attempt), { ...carried, ...settledBy }, attempt);
}

async function unlocked(last: StoredRevision | undefined, loop: Loop): Promise<Loop> {
  if (last === undefined) return loop;
  const status = await unlock(last, loop.status, loop.attempt);
  await loop.attempt.ctx.write(status);
  return { ...loop, status, ran: new Set([...loop.ran, "unlock"]) };
}
