import type { HelmReleaseStatus, ReleaseSnapshot } from "../../api/helm-release-status.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { nextAction } from "../../helm/next-action.ts";
import type { StoredRevision } from "../../helm/release-store.ts";
import { retryIntervalMs } from "../../helm/remediation.ts";
import { type EndedAction, statusAfter } from "./action-end.ts";
import { hidingEnd } from "./actions/hide-secrets.ts";
import type { ActionOutcome } from "./attempt/action.ts";
import { type Pass, toCarried } from "./carried.ts";
import { type ActionName, type Loop, typeOf } from "./loop-state.ts";
import { endAfterRemediation } from "./pass-end.ts";
import { reconciling, withConditions, withoutConditions } from "./release-status.ts";
import { reportBackoff, reportRetry } from "./report.ts";

/** The status before an action: what it is about to do, in one write. */
export async function begun(name: ActionName, loop: Loop): Promise<HelmReleaseStatus> {
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
export function attemptBegun(name: ActionName, { status }: Loop): HelmReleaseStatus {
  if (name !== "install" && name !== "upgrade") return status;
  const fresh = withoutConditions({ ...status, lastAttemptedReleaseAction: name }, "TestSuccess", "Remediated");
  if (name === "upgrade") return fresh;
  const { history: _history, ...rest } = fresh;
  return rest;
}

/**
 * Begins or continues an action. The run ends if the action waits, or if its end ends the pass; otherwise the loop goes on with the new
 * status.
 */
export async function runAction(
  name: ActionName,
  last: StoredRevision | undefined,
  loop: Loop,
): Promise<FlowResult | Loop> {
  const { attempt } = loop;
  const { clock } = attempt.ctx.deps;
  const startedAt = loop.startedAt ?? clock.now();
  const going = { ...loop, startedAt, status: attemptBegun(name, loop) };
  const outcome = await carryOut(name, last, going);
  if (outcome.kind !== "waiting") return afterAction(name, outcome, going);
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
export async function afterAction(name: ActionName, told: EndedAction["end"], loop: Loop): Promise<FlowResult | Loop> {
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
  if (typeOf[name] === "remediate") return endAfterRemediation(after, retryMs);
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
