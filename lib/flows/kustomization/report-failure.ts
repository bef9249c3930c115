import { retryIntervalMs } from "../../api/kustomization.ts";
import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import type { Failure } from "../../core/failure.ts";
import type { FlowResult } from "../../core/run.ts";
import { type Attempt, attempted, progressText } from "./attempt.ts";
import { handled, withConditions, withoutConditions } from "./end-of-run.ts";
import { withSnapshot } from "./history-snapshots.ts";
import { readMemo } from "./memo.ts";
import { type Changes, rememberRun } from "./remember-run.ts";
import { retryInMs } from "./report-blocked.ts";

/** The phase that a failure ended: its progress message stays in Reconciling. */
function phaseOf({ reason }: Failure): "fetch" | "build" | "apply" | "health" {
  if (reason === "ArtifactFailed") return "fetch";
  if (reason === "BuildFailed") return "build";
  return reason === "HealthCheckFailed" ? "health" : "apply";
}

/** The failures that reached the cluster, which alone enter the history (reference 3.18). */
const counted = new Set(["ReconciliationFailed", "PruneFailed", "HealthCheckFailed"]);

/** How far an attempt came before it failed. */
export interface Reached {
  /** As it is to be but for what the failure says. */
  readonly status: KustomizationStatus;
  /** Of the built manifests; undefined where the attempt did not get that far. */
  readonly digest: string | undefined;
  readonly changes: Changes;
}

/**
 * Says that an attempt failed: Ready=False with the reason, Reconciling with the phase and `ProgressingWithRetry`.
 *
 * @param health what Healthy=False says, where health was the matter
 */
export async function reportFailure(
  failure: Failure,
  { status: before, digest, changes }: Reached,
  attempt: Attempt,
  health?: string,
): Promise<FlowResult> {
  const { of, annotations } = attempt;
  const { reason, message } = failure;
  const phase = phaseOf(failure);
  const tried = phase === "fetch" ? before : attempted(before, attempt);
  const status = withConditions(
    withoutConditions(tried, "Stalled"),
    of,
    { type: "Reconciling", status: "True", reason: "ProgressingWithRetry", message: progressText(phase, attempt) },
    { type: "Ready", status: "False", reason, message },
    ...(health === undefined ? [] : [{ type: "Healthy", status: "False", reason, message: health } as const]),
  );
  const finished = finishedAttempt(reason, digest, attempt);
  const history = finished && withSnapshot(before.history ?? [], finished, of.deps.clock.now());
  await of.write(handled(history === undefined ? status : { ...status, history: [...history] }, of));
  await of.tell({ type: "Warning", reason, message, annotations });
  await rememberRun(reason, changes, attempt);
  const { failures } = readMemo(of.run.memo);
  const dueInMs = retryInMs(failure.retry, failures, of) ?? retryIntervalMs(of.kustomization.spec);
  return { outcome: "failed", dueInMs, memo: { failures: failures + 1 } };
}

function finishedAttempt(reason: string, digest: string | undefined, { of, source, startedAt }: Attempt) {
  if (digest === undefined || !counted.has(reason)) return undefined;
  const { revision, originRevision } = source;
  return { digest, status: reason, durationMs: of.deps.clock.now() - startedAt, revision, originRevision };
}
