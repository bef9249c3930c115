import type { HelmReleaseStatus, ReleaseSnapshot } from "../../api/helm-release-status.ts";
import { formatDuration } from "../../core/duration.ts";
import { ignoresTestFailures, retryIntervalMs } from "../../helm/remediation.ts";
import {
  fullReleaseName,
  hasFailedTest,
  isTested,
  type ReleaseAction,
  snapshotOf,
  testHooksOf,
  versionedChart,
} from "../../helm/snapshot.ts";
import type { ActionEnd, WrittenRevision } from "./attempt/action.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";
import type { EventMetadata } from "./release-events.ts";
import { metadataOf, recordRelease } from "./release-events.ts";
import { summarise, withConditions } from "./release-status.ts";

/** A finished action, with its kind. */
export interface EndedAction {
  readonly name: "install" | "rollback" | "test" | "uninstall" | "upgrade";
  readonly end: ActionEnd;
  /** The revision that a rollback went back to. */
  readonly previous?: ReleaseSnapshot | undefined;
  readonly durationMs: number;
  /** This end belongs to an earlier attempt, with another chart, spec or values: the counters ignore it. */
  readonly isOfFormer?: boolean;
}

/**
 * The status after an action, and its event: history, counters, conditions (reference helmrelease 8.4, 13, 14). All of it is one
 * write, so that a killed run counts nothing twice.
 */
export async function statusAfter(
  ended: EndedAction,
  before: HelmReleaseStatus,
  attempt: ReleaseAttempt,
): Promise<HelmReleaseStatus> {
  switch (ended.name) {
    case "install":
    case "upgrade":
      return afterRelease(ended, ended.name, before, attempt);
    case "rollback":
      return afterRollback(ended, before, attempt);
    case "uninstall":
      return afterUninstall(ended, before, attempt);
    case "test":
      return afterTest(ended, before, attempt);
  }
}

const releaseWords = {
  install: { action: "install", succeeded: "InstallSucceeded", failed: "InstallFailed" },
  upgrade: { action: "upgrade", succeeded: "UpgradeSucceeded", failed: "UpgradeFailed" },
} as const;

async function afterRelease(
  { end, durationMs, isOfFormer = false }: EndedAction,
  name: "install" | "upgrade",
  before: HelmReleaseStatus,
  attempt: ReleaseAttempt,
): Promise<HelmReleaseStatus> {
  const { ctx, chart, names } = attempt;
  const words = releaseWords[name];
  const history = await withWritten(end.written, name, before.history ?? [], attempt);
  let status: HelmReleaseStatus = {
    ...before,
    history: [...history],
    lastAttemptedReleaseActionDuration: formatDuration(durationMs),
    ...shown(end),
  };
  const [latest] = history;
  if (end.kind === "failed") {
    const tried = end.written[0]?.record.observed.chart ?? chart.metadata;
    const message = `Helm ${words.action} failed for release ${names.namespace}/${names.fullName} with chart ${tried.name}@${tried.version}: ${end.message.trim()}`;
    recordRelease(ctx, { type: "Warning", reason: words.failed, message }, attemptedMetadata(attempt), end.log);
    if (!isOfFormer) status = { ...status, failures: (status.failures ?? 0) + 1 };
    if (!isOfFormer && end.written.length > 0) status = counted(name, status);
    status = withConditions(status, ctx, { type: "Released", status: "False", reason: words.failed, message });
    return summarise(status, ctx);
  }
  if (latest === undefined) throw new Error(`an ${name} has ended without a revision`);
  const message = `Helm ${words.action} succeeded for release ${fullReleaseName(latest)} with chart ${versionedChart(latest)}`;
  recordRelease(ctx, { type: "Normal", reason: words.succeeded, message }, metadataOf(latest));
  status = withConditions(status, ctx, { type: "Released", status: "True", reason: words.succeeded, message });
  if (ctx.release.spec.test?.enable === true && !isTested(latest)) {
    const pending = `Helm release ${fullReleaseName(latest)} with chart ${versionedChart(latest)} is awaiting tests`;
    status = withConditions(status, ctx, {
      type: "TestSuccess",
      status: "Unknown",
      reason: "AwaitingTests",
      message: pending,
    });
  }
  if (retryIntervalMs(name, ctx.release.spec) !== undefined) status = withoutFailures(status);
  return summarise(isOfFormer ? status : withObservedDigests(status, attempt), ctx);
}

function shown({ inventory }: ActionEnd): Pick<HelmReleaseStatus, "inventory"> {
  return inventory === undefined ? {} : { inventory: { entries: [...inventory] } };
}

/** The spec fields that a successful action has used, as digests. A failed one keeps the former: it is tried again (reference 24, D13). */
export function withObservedDigests(
  status: HelmReleaseStatus,
  { commonMetadataDigest, postRenderersDigest }: Pick<ReleaseAttempt, "commonMetadataDigest" | "postRenderersDigest">,
): HelmReleaseStatus {
  const { observedCommonMetadataDigest: _metadata, observedPostRenderersDigest: _renderers, ...rest } = status;
  return {
    ...rest,
    ...(postRenderersDigest === "" ? {} : { observedPostRenderersDigest: postRenderersDigest }),
    ...(commonMetadataDigest === "" ? {} : { observedCommonMetadataDigest: commonMetadataDigest }),
  };
}

function attemptedMetadata({ chart, configDigest }: ReleaseAttempt): EventMetadata {
  const { appVersion = "", version } = chart.metadata;
  return { revision: version, token: configDigest, appVersion, ociDigest: chart.ociDigest };
}

function counted(name: "install" | "upgrade", status: HelmReleaseStatus): HelmReleaseStatus {
  return name === "install"
    ? { ...status, installFailures: (status.installFailures ?? 0) + 1 }
    : { ...status, upgradeFailures: (status.upgradeFailures ?? 0) + 1 };
}

/** The status with all counters at rest. */
export function withoutFailures(status: HelmReleaseStatus): HelmReleaseStatus {
  const { failures: _failures, installFailures: _installs, upgradeFailures: _upgrades, ...rest } = status;
  return rest;
}

async function afterRollback(
  { end, isOfFormer = false, previous }: EndedAction,
  before: HelmReleaseStatus,
  attempt: ReleaseAttempt,
): Promise<HelmReleaseStatus> {
  const { ctx, configDigest } = attempt;
  const history = await withWritten(end.written, "rollback", before.history ?? [], attempt);
  const status = { ...before, history: [...history], ...shown(end) };
  // A rollback of an earlier attempt, whose target has left the history since: its message could not name it.
  if (previous === undefined && isOfFormer) return status;
  if (previous === undefined) throw new Error("a rollback has ended without its target");
  const metadata = { ...metadataOf(previous), token: configDigest };
  const what = `Helm rollback to previous release ${fullReleaseName(previous)} with chart ${versionedChart(previous)}`;
  if (end.kind === "failed") {
    const message = `${what} failed: ${end.message.trim()}`;
    recordRelease(ctx, { type: "Warning", reason: "RollbackFailed", message }, metadata, end.log);
    const failed = isOfFormer ? status : { ...status, failures: (status.failures ?? 0) + 1 };
    const said = { type: "Remediated", status: "False", reason: "RollbackFailed", message } as const;
    return summarise(withConditions(failed, ctx, said), ctx);
  }
  const message = `${what} succeeded`;
  recordRelease(ctx, { type: "Normal", reason: "RollbackSucceeded", message }, metadata);
  const said = { type: "Remediated", status: "True", reason: "RollbackSucceeded", message } as const;
  return summarise(withConditions(status, ctx, said), ctx);
}

/** After an uninstall as remediation Ready keeps the reason of the failed action. */
async function afterUninstall(
  { end }: EndedAction,
  before: HelmReleaseStatus,
  attempt: ReleaseAttempt,
): Promise<HelmReleaseStatus> {
  const { ctx } = attempt;
  const history = await withWritten(end.written, "uninstall-remediation", before.history ?? [], attempt);
  const status = { ...before, history: [...history] };
  const [latest] = history;
  if (latest === undefined) return status;
  const what = `Helm uninstall remediation for release ${fullReleaseName(latest)} with chart ${versionedChart(latest)}`;
  if (end.kind === "failed") {
    const message = `${what} failed: ${end.message.trim()}`;
    recordRelease(ctx, { type: "Warning", reason: "UninstallFailed", message }, metadataOf(latest), end.log);
    const failed = { ...status, failures: (status.failures ?? 0) + 1 };
    return withConditions(failed, ctx, { type: "Remediated", status: "False", reason: "UninstallFailed", message });
  }
  const message = `${what} succeeded`;
  recordRelease(ctx, { type: "Normal", reason: "UninstallSucceeded", message }, metadataOf(latest));
  return withConditions(status, ctx, { type: "Remediated", status: "True", reason: "UninstallSucceeded", message });
}

async function afterTest(
  { end }: EndedAction,
  before: HelmReleaseStatus,
  attempt: ReleaseAttempt,
): Promise<HelmReleaseStatus> {
  const { ctx } = attempt;
  const [former, ...older] = before.history ?? [];
  if (former === undefined) return before;
  const [written] = end.written;
  const latest = written === undefined ? former : { ...former, testHooks: testHooksOf(written.record.observed) };
  const status: HelmReleaseStatus = { ...before, history: [latest, ...older] };
  const about = `release ${fullReleaseName(latest)} with chart ${versionedChart(latest)}`;
  if (end.kind === "failed") {
    const message = `Helm test failed for ${about}: ${end.message.trim()}`;
    recordRelease(ctx, { type: "Warning", reason: "TestFailed", message }, metadataOf(latest));
    const action = before.lastAttemptedReleaseAction;
    const failed = { ...status, failures: (status.failures ?? 0) + 1 };
    const counts = action !== undefined && hasFailedTest(latest) && !ignoresTestFailures(ctx.release.spec, before);
    const said = { type: "TestSuccess", status: "False", reason: "TestFailed", message } as const;
    return summarise(withConditions(counts ? counted(action, failed) : failed, ctx, said), ctx);
  }
  const tests = Object.keys(latest.testHooks ?? {}).length;
  const outcome =
    tests === 0 ? "no test hooks" : `${tests} test ${tests === 1 ? "hook" : "hooks"} completed successfully`;
  const message = `Helm test succeeded for ${about}: ${outcome}`;
  recordRelease(ctx, { type: "Normal", reason: "TestSucceeded", message }, metadataOf(latest));
  const said = { type: "TestSuccess", status: "True", reason: "TestSucceeded", message } as const;
  return summarise(withConditions(status, ctx, said), ctx);
}

/**
 * The history with the revisions that an action has written: the new one first. A former revision that it rewrote loses its action,
 * unless a rollback did; its digest uses the artifact that it was made from.
 */
async function withWritten(
  written: readonly WrittenRevision[],
  action: ReleaseAction,
  history: readonly ReleaseSnapshot[],
  attempt: ReleaseAttempt,
): Promise<readonly ReleaseSnapshot[]> {
  let next = [...history];
  const newestVersion = Math.max(...written.map(({ record }) => record.observed.version));
  // The oldest first, so that the newest ends in front.
  for (const { attempted, record } of written.toSorted(
    (a, b) => a.record.observed.version - b.record.observed.version,
  )) {
    const { version } = record.observed;
    const former = next.find((one) => one.version === version);
    const isNew = former === undefined;
    const { configDigest, ociDigest: artifact } = attempted ?? { ...attempt, ociDigest: attempt.chart.ociDigest };
    const ociDigest = former?.ociDigest ?? (isNew && action !== "rollback" ? artifact : "");
    const observed = await attempt.observe(record, ociDigest);
    const isRelease = action === "install" || action === "upgrade";
    // With the values that it has kept of the former one.
    const isMerged = action === "upgrade" && attempt.ctx.release.spec.upgrade?.preserveValues === true;
    const snapshot = snapshotOf(observed, {
      ...(isNew || !isRelease ? { action } : {}),
      ...(former === undefined
        ? isRelease && !isMerged
          ? { configDigest }
          : {}
        : { configDigest: former.configDigest }),
      ociDigest,
    });
    const whole = former?.testHooks === undefined ? snapshot : { ...snapshot, testHooks: former.testHooks };
    // A former revision that is not in the history, for example of a manually installed release, stays unknown.
    if (isNew && isRelease && version !== newestVersion) continue;
    next = isNew ? [whole, ...next] : next.map((one) => (one === former ? whole : one));
  }
  return next;
}
