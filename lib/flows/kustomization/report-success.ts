import { findCondition, isTrue } from "../../api/condition.ts";
import { minIntervalMs } from "../../api/fields.ts";
import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { allEnded } from "../../core/all-ended.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { readyEdge } from "../../core/edge-names.ts";
import type { FlowResult } from "../../core/run.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { spreadInterval } from "../spread-interval.ts";
import type { AppliedRevision } from "./apply-revision.ts";
import { type Attempt, attempted, elapsedText } from "./attempt.ts";
import type { BuiltManifests } from "./deps.ts";
import { handled, withConditions, withoutConditions } from "./end-of-run.ts";
import { withSnapshot } from "./history-snapshots.ts";
import type { Wait } from "./memo.ts";
import { rememberRun } from "./remember-run.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

export interface Success {
  readonly applied: AppliedRevision;
  readonly built: BuiltManifests;
  /** With the new inventory. */
  readonly status: KustomizationStatus;
  readonly wait: Wait;
  /** `Health check passed in …`, or undefined where there was nothing to check. */
  readonly health: string | undefined;
  /** The events of this attempt that are still on their way: those of its end come after them. */
  readonly told: Promise<void>;
}

/**
 * Says that the revision is in the cluster, wakes whoever waited for that, and answers when to look again. Status, events
 * and history go at the same time; the events keep their order, and nobody is woken before the status says why.
 */
export async function reportSuccess(success: Success, attempt: Attempt): Promise<FlowResult> {
  const { of } = attempt;
  const before = of.kustomization.status;
  const wanted = parseDuration(of.kustomization.spec.interval);
  const interval = wanted === 0 ? 0 : Math.max(minIntervalMs, wanted);
  await allEnded([
    of
      .write(successStatus(success, attempt))
      .then(() => (isNewlyReady(before, attempt) ? wakeDependents(of) : undefined)),
    tellSuccess(success, attempt, interval),
    rememberRun("ReconciliationSucceeded", success.applied, attempt),
  ]);
  const dueInMs = spreadInterval(interval, of.deps.jitter());
  return { outcome: "applied", dueInMs, memo: { failures: 0 } };
}

/** What was changed, that the health check passed, and that all is over: Flux's events, in Flux's order. */
async function tellSuccess(success: Success, attempt: Attempt, interval: number): Promise<void> {
  const { of, source, annotations } = attempt;
  await success.told;
  if (success.health !== undefined && isNews(of.kustomization.status, success, source.revision)) {
    await of.tell({ type: "Normal", reason: "Progressing", message: success.health, annotations });
  }
  const took = elapsedText(attempt, attempt.startedAt);
  const message = `Reconciliation finished in ${took}, next run in ${formatDuration(interval)}`;
  const metadata = { ...annotations, "kustomize.toolkit.fluxcd.io/commit_status": "update" };
  await of.tell({ type: "Normal", reason: "ReconciliationSucceeded", message, annotations: metadata });
}

function successStatus({ built, status, health }: Success, attempt: Attempt): KustomizationStatus {
  const { of, source, startedAt } = attempt;
  const { revision, originRevision } = source;
  const now = of.deps.clock.now();
  const finished = {
    digest: built.digest,
    key: built.carriesSecret ? of.deps.installationKey : undefined,
    status: "ReconciliationSucceeded",
    durationMs: now - startedAt,
    revision,
    originRevision,
  };
  const { lastAppliedOriginRevision: _former, ...rest } = status;
  const applied: KustomizationStatus = {
    ...attempted(rest, attempt),
    observedGeneration: of.generation,
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
  const healthy =
    health === undefined ? [] : [{ type: "Healthy", status: "True", reason: "Succeeded", message: health } as const];
  return handled(withConditions(cleared, of, ready, ...healthy), of);
}

/** Whether a passed health check is worth an event: it was not healthy before, or a new revision changed something. */
function isNews(before: KustomizationStatus, { wait }: Success, revision: string): boolean {
  const wasHealthy = findCondition(before.conditions ?? [], "Healthy")?.status === "True";
  return !wasHealthy || (wait.changed && before.lastAppliedRevision !== revision);
}

function isNewlyReady(before: KustomizationStatus, { of, source }: Attempt): boolean {
  return (
    !isTrue(before.conditions ?? [], "Ready") ||
    before.lastAppliedRevision !== source.revision ||
    before.observedGeneration !== of.generation
  );
}

async function wakeDependents({ deps, run }: SubjectOfRun): Promise<void> {
  const reason = `${formatWorkKey(run.key)} is ready`;
  for (const dependent of await deps.edges.listeners(readyEdge(run.key), run.signal)) {
    await deps.requests.request(dependent, reason, run.signal);
  }
}
