import { findCondition, isTrue } from "../../api/condition.ts";
import type { HelmReleaseStatus, ReleaseSnapshot } from "../../api/helm-release-status.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { Failure } from "../../core/failure.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { exceededText, missingRollbackTarget, type NextAction, nextAction } from "../../helm/next-action.ts";
import { releaseState } from "../../helm/release-state.ts";
import type { AttemptMark, StoredRevision } from "../../helm/release-store.ts";
import { activeRemediation, ignoresTestFailures, isExhausted, retryIntervalMs } from "../../helm/remediation.ts";
import { fullReleaseName, newest, truncated, versionedChart } from "../../helm/snapshot.ts";
import { type EndedAction, statusAfter, withObservedDigests } from "./action-end.ts";
import { hidingEnd } from "./actions/hide-secrets.ts";
import type { ActionOutcome, ActionWait, Drift, ReleaseActions, WrittenRevision } from "./attempt/action.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";
import { type Carried, type Pass, toCarried } from "./carried.ts";
import { correctDrift, reportDrift } from "./drift-report.ts";
import { reconciling, summarise, withConditions, withoutConditions } from "./release-status.ts";
import { reportBackoff, reportDone, reportRequeue, reportRetry, reportStalled } from "./report.ts";
import { takeForce } from "./requests.ts";
import { headsOf } from "./stored-heads.ts";
import { unlock } from "./unlock.ts";
import { wantedConfigDigest } from "./wanted-config-digest.ts";

type ActionName = EndedAction["name"];
/** Each type of action runs at most once a pass; nothing runs after a remediation (reference helmrelease 8.3). */
type ActionType = "drift" | "release" | "remediate" | "test" | "unlock";

const typeOf = {
  install: "release",
  upgrade: "release",
  rollback: "remediate",
  uninstall: "remediate",
  test: "test",
} as const satisfies Record<ActionName, ActionType>;

/** Where a pass stands. */
interface Loop {
  readonly attempt: ReleaseAttempt;
  readonly actions: ReleaseActions;
  readonly carried: Carried;
  readonly isForced: boolean;
  readonly ran: ReadonlySet<string>;
  readonly wait: ActionWait | undefined;
  readonly startedAt: number | undefined;
  status: HelmReleaseStatus;
}

/**
 * Brings a release to its wanted state, action by action, until nothing is left to do, the run has to wait, or a failure ends the
 * pass. A run goes on where the last one has ended: the release Secrets say how far an action has come.
 */
export async function releaseLoop(
  attempt: ReleaseAttempt,
  actions: ReleaseActions,
  carried: Carried,
): Promise<FlowResult> {
  const { ctx, token } = attempt;
  const { pass } = carried;
  const isSame = pass?.token === token && pass.generation === ctx.generation;
  const { isForced, status } = takeForce(ctx.status(), ctx);
  let loop: Loop = {
    ...{ attempt, actions, carried, isForced, status },
    ran: new Set(isSame ? pass.ran : []),
    wait: isSame ? pass.wait : undefined,
    startedAt: isSame ? pass.startedAt : undefined,
  };
  if (await isSettled(loop)) return reportDone(withoutConditions(loop.status, "Reconciling"), carried, attempt);
  for (;;) {
    const last = await latest(loop);
    const step = (await ongoing(last, loop)) ?? (await decided(last, loop));
    if ("outcome" in step) return step;
    loop = step;
  }
}

/** Whether the last run found the release as wanted, and no other writer has changed it since: then no record is read. */
async function isSettled({ attempt, carried, isForced, status }: Loop): Promise<boolean> {
  const { ctx, store, token } = attempt;
  const { settled: known } = carried;
  const isDetecting = (ctx.release.spec.driftDetection?.mode ?? "disabled") !== "disabled";
  if (known === undefined || isForced || isDetecting || !isTrue(status.conditions ?? [], "Ready")) return false;
  if (known.token !== token || known.generation !== ctx.generation) return false;
  const [head] = await headsOf(store, ctx);
  return head?.uid === known.uid && head.resourceVersion === known.resourceVersion;
}

/** The latest revision, with the digest that its snapshot has to have. */
async function latest({ attempt, status }: Loop): Promise<StoredRevision | undefined> {
  const { ctx, store } = attempt;
  const [head] = await headsOf(store, ctx);
  if (head === undefined) return undefined;
  const snapshot = (status.history ?? []).find(({ version }) => version === head.version);
  return store.read(head.version, snapshot?.ociDigest ?? "", ctx.run.signal);
}

/** An action that an earlier run has begun, or has ended without updating the status; undefined if there is none. */
async function ongoing(last: StoredRevision | undefined, loop: Loop): Promise<FlowResult | Loop | undefined> {
  const { attempt, status } = loop;
  const { ctx } = attempt;
  const mark = last?.mark;
  if (last === undefined || mark === undefined || mark.owner !== ctx.owner.uid) return undefined;
  // A release that is half uninstalled is uninstalled to the end, whatever is wanted by now: nothing can be upgraded.
  const isCurrent = mark.action === "uninstall" || (mark.generation === ctx.generation && mark.token === attempt.token);
  const isUnderWay =
    last.status.startsWith("pending-") ||
    (last.status === "uninstalling" && mark.action === "uninstall") ||
    (last.status === "deployed" && mark.action === "test" && mark.ended === undefined);
  if (isUnderWay) return isCurrent ? run(mark.action, last, loop) : undefined;
  const snapshot = (status.history ?? []).find(({ version }) => version === last.version);
  if (mark.ended === undefined || snapshot?.digest === last.observed.digest || mark.action === "test") return undefined;
  // The written digest includes the artifact of that action: the chart may have changed since.
  const observed = await attempt.observe(last, mark.attempted?.ociDigest ?? attempt.chart.ociDigest);
  if (observed.digest !== mark.ended || mark.action === "uninstall") return undefined;
  const own = { record: { bytes: last.bytes, observed }, isGone: false, attempted: mark.attempted };
  const written = [own, ...(await supersededBefore(last, loop))];
  const isDone = observed.status === "deployed";
  const message = observed.description.replace(/^(?:Release|Upgrade|Rollback) ".*?" failed: /, "");
  const end = isDone ? { kind: "succeeded" as const, written } : { kind: "failed" as const, message, log: [], written };
  const begun = { ...loop, status: attemptBegun(mark.action, loop) };
  return isCurrent ? ended(mark.action, end, begun) : endedBefore(mark, end, begun);
}

/**
 * The Secrets say how an action of an earlier attempt has ended, and the status does not. This writes it into the status; then the present
 * attempt goes on.
 */
async function endedBefore({ action: name, target }: AttemptMark, told: EndedAction["end"], loop: Loop): Promise<Loop> {
  const { attempt } = loop;
  const previous = loop.status.history?.find(({ version }) => version === target);
  const end = told.kind === "failed" ? await hidingEnd(told, attempt) : told;
  const status = await statusAfter({ name, end, previous, durationMs: 0, isOfFormer: true }, loop.status, attempt);
  attempt.ctx.note(status);
  return { ...loop, status };
}

/** The revisions that the status still takes for deployed, and that the action of the latest one has superseded. */
async function supersededBefore(
  { version: latestVersion }: StoredRevision,
  { attempt, status }: Loop,
): Promise<readonly WrittenRevision[]> {
  const { ctx, store } = attempt;
  const former: WrittenRevision[] = [];
  for (const { ociDigest = "", status: known, version } of status.history ?? []) {
    if (known !== "deployed" || version >= latestVersion) continue;
    const stored = await store.read(version, ociDigest, ctx.run.signal);
    if (stored?.status === "superseded") former.push({ record: stored, isGone: false });
  }
  return former;
}

/** The next action for the present release. */
async function decided(last: StoredRevision | undefined, loop: Loop): Promise<FlowResult | Loop> {
  const { attempt, isForced } = loop;
  const { chart, commonMetadataDigest, ctx, postRenderersDigest } = attempt;
  const { spec } = ctx.release;
  const configDigest = await wantedConfigDigest(last, loop.status, attempt);
  const wanted = {
    ...{ spec, status: loop.status, generation: ctx.generation, chart: chart.metadata },
    ...{ configDigest, postRenderersDigest, commonMetadataDigest },
  };
  const state = releaseState(last, wanted);
  if (state.kind === "settled" || state.kind === "untested") loop.status = settled(loop);
  if (state.kind === "settled" && !isForced) {
    const drift = await driftOf(last, loop);
    if (drift?.isDrifted === true && last !== undefined) return drifted(drift, last, loop);
    if (drift !== undefined) loop.status = withConditions(loop.status, ctx, noDrift);
  }
  const deciding = { spec, status: loop.status, isForced };
  const action = nextAction(state, deciding);
  return take(action, last, loop);
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
      return loop.ran.has("unlock") ? blocked(loop) : unlocked(last, loop);
    case "install":
    case "upgrade":
    case "rollback":
    case "uninstall":
    case "test":
      if (loop.ran.has(typeOf[action.kind])) return blocked(loop);
      if (action.kind === "rollback") {
        const other = await instead(action.toVersion, loop);
        if (other !== undefined) return take(other, last, loop);
      }
      if (action.kind === "upgrade" && action.forgets === true) {
        const { history: _history, ...status } = loop.status;
        loop.status = status;
      }
      if (typeOf[action.kind] === "remediate") loop.status = withoutOldHistory(loop.status, attempt);
      loop.status = await begun(action.kind, loop);
      return run(action.kind, last, { ...loop, startedAt: attempt.ctx.deps.clock.now(), wait: undefined });
  }
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
  if (loop.ran.has("drift")) return blocked({ ...loop, status });
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

/** The status before an action: what it is about to do, in one write. */
async function begun(name: ActionName, loop: Loop): Promise<HelmReleaseStatus> {
  const { attempt } = loop;
  const { ctx } = attempt;
  const { spec } = ctx.release;
  const timeout = formatDuration(parseDuration(spec[name]?.timeout ?? spec.timeout ?? "5m"));
  const said = { reason: "Progressing", message: `Running '${name}' action with timeout of ${timeout}` } as const;
  let status = reconciling(loop.status, said, ctx);
  if (typeOf[name] === "release") status = withConditions(status, ctx, { type: "Ready", status: "Unknown", ...said });
  await ctx.write(status);
  return attemptBegun(name, { ...loop, status });
}

/** What an install or upgrade drops from the release before it. It is written with the end of the action. */
function attemptBegun(name: ActionName, { status }: Loop): HelmReleaseStatus {
  if (name !== "install" && name !== "upgrade") return status;
  const fresh = withoutConditions({ ...status, lastAttemptedReleaseAction: name }, "TestSuccess", "Remediated");
  if (name === "upgrade") return fresh;
  const { history: _history, ...rest } = fresh;
  return rest;
}

async function run(name: ActionName, last: StoredRevision | undefined, loop: Loop): Promise<FlowResult | Loop> {
  const { attempt } = loop;
  const { clock } = attempt.ctx.deps;
  const startedAt = loop.startedAt ?? clock.now();
  const going = { ...loop, startedAt, status: attemptBegun(name, loop) };
  const outcome = await carryOut(name, last, going);
  if (outcome.kind !== "waiting") return ended(name, outcome, going);
  if (outcome.inventory !== undefined) {
    await attempt.ctx.write({ ...attempt.ctx.status(), inventory: { entries: [...outcome.inventory] } });
  }
  const pass: Pass = { ...passOf(going), startedAt, wait: { ...outcome.wait } };
  return { outcome: "waiting", dueInMs: outcome.dueInMs, carried: toCarried({ ...loop.carried, failures: 0, pass }) };
}

function passOf({ attempt, ran }: Loop): Pass {
  return { token: attempt.token, generation: attempt.ctx.generation, ran: [...ran] };
}

async function carryOut(name: ActionName, last: StoredRevision | undefined, loop: Loop): Promise<ActionOutcome> {
  const { actions, attempt, wait } = loop;
  if (name === "install") return actions.install(attempt, wait);
  if (last === undefined) throw new Error(`there is no revision for the action ${name}`);
  switch (name) {
    case "upgrade":
      return actions.upgrade(attempt, last, wait);
    case "rollback":
      return actions.rollback(attempt, last, rollbackTarget(last, loop)?.version ?? 0, wait);
    case "test":
      return actions.test(attempt, last, wait);
    case "uninstall": {
      const { ctx, healthRules, names, store } = attempt;
      const release = { releaseName: names.name, releaseNamespace: names.namespace };
      return actions.uninstall({ ctx, store, ...release, reason: "remediation", healthRules }, wait);
    }
  }
}

/** The target of the current rollback by its description, else the one in the history. */
function rollbackTarget(last: StoredRevision | undefined, { attempt, status }: Loop): ReleaseSnapshot | undefined {
  const history = status.history ?? [];
  const version = /^Rollback to (\d+)$/.exec(last?.observed.description ?? "")?.[1];
  const named = version === undefined ? undefined : history.find((one) => one.version === Number(version));
  const deciding = { spec: attempt.ctx.release.spec, status, isForced: false };
  const action = nextAction({ kind: "failed", reason: "" }, deciding);
  return named ?? history.find((one) => action.kind === "rollback" && one.version === action.toVersion);
}

/** The action has ended: the status says how, and the pass goes on or stops. */
async function ended(name: ActionName, told: EndedAction["end"], loop: Loop): Promise<FlowResult | Loop> {
  const { attempt, carried } = loop;
  const { ctx } = attempt;
  const durationMs = ctx.deps.clock.now() - (loop.startedAt ?? ctx.deps.clock.now());
  const previous = name === "rollback" ? targetOf(told, loop) : undefined;
  const end = told.kind === "failed" ? await hidingEnd(told, attempt) : told;
  const status = await statusAfter({ name, end, previous, durationMs }, loop.status, attempt);
  const isUnstored = end.kind === "failed" && end.written.length === 0;
  const after: Loop = {
    ...loop,
    status,
    wait: undefined,
    startedAt: undefined,
    ran: new Set([...loop.ran, typeOf[name]]),
    isForced: loop.isForced && typeOf[name] !== "release",
  };
  const retryMs = retryIntervalMs(status.lastAttemptedReleaseAction, ctx.release.spec);
  if (isUnstored) {
    if (retryMs !== undefined) return reportRetry(status, retryMs, carried, attempt);
    return reportBackoff(status, carried, attempt);
  }
  if (typeOf[name] === "remediate") return stopped(after, retryMs);
  // A run that is killed before the next write leaves its record with the mark of its end: the next run goes on from there.
  if (end.kind === "succeeded" && typeOf[name] === "release") ctx.note(status);
  else await ctx.write(status);
  return after;
}

function targetOf(end: EndedAction["end"], loop: Loop): ReleaseSnapshot | undefined {
  const [first] = end.written.toSorted((a, b) => b.record.observed.version - a.record.observed.version);
  const version = /^Rollback to (\d+)$/.exec(first?.record.observed.description ?? "")?.[1];
  const named = (loop.status.history ?? []).find((one) => one.version === Number(version));
  return named ?? rollbackTarget(undefined, loop);
}

/** After a remediation the pass ends. */
async function stopped({ attempt, carried, status }: Loop, retryMs: number | undefined): Promise<FlowResult> {
  const { ctx } = attempt;
  const { spec } = ctx.release;
  if (retryMs !== undefined) return reportRetry(status, retryMs, carried, attempt);
  const remediation = activeRemediation(spec, status);
  const reinstalls = remediation?.action === "upgrade" && remediation.strategy === "uninstall";
  if (remediation === undefined || !isExhausted(remediation) || reinstalls)
    return reportRequeue(status, carried, attempt);
  return reportStalled(status, "RetriesExceeded", exceededText(spec, status), ctx);
}

/** An action of a type that has run in this pass waits for the next one. */
async function blocked({ attempt, carried, status }: Loop): Promise<FlowResult> {
  const { ctx } = attempt;
  const { spec } = ctx.release;
  const retryMs = retryIntervalMs(status.lastAttemptedReleaseAction, spec);
  if (retryMs !== undefined) return reportRetry(status, retryMs, carried, attempt);
  const remediation = activeRemediation(spec, status);
  if (remediation === undefined || !isExhausted(remediation)) return reportRequeue(status, carried, attempt);
  return reportDone(withoutConditions(status, "Reconciling"), carried, attempt);
}

async function unlocked(last: StoredRevision | undefined, loop: Loop): Promise<Loop> {
  if (last === undefined) return loop;
  const status = await unlock(last, loop.status, loop.attempt);
  await loop.attempt.ctx.write(status);
  return { ...loop, status, ran: new Set([...loop.ran, "unlock"]) };
}
