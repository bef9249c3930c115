import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { cutMessage } from "../../core/cut-text.ts";
import type { Failure } from "../../core/failure.ts";
import type { FlowResult } from "../../core/run.ts";
import { maskSecrets } from "../../manifests/mask-secrets.ts";
import { type Attempt, attempted, progressText } from "./attempt.ts";
import type { BuiltManifests } from "./deps.ts";
import { handled, withConditions, withoutConditions } from "./end-of-run.ts";
import { type Finished, withSnapshot } from "./history-snapshots.ts";
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
  /** Undefined where the attempt did not get that far. */
  readonly built: BuiltManifests | undefined;
  readonly changes: Changes;
}

/**
 * Says that an attempt failed: Ready=False with the reason, Reconciling with the phase and `ProgressingWithRetry`.
 * Values of Secrets of the build are left out, wherever the failure quotes them.
 *
 * @param health what Healthy=False says, where health was the matter
 */
export async function reportFailure(
  failure: Failure,
  { status: before, built, changes }: Reached,
  attempt: Attempt,
  health?: string,
): Promise<FlowResult> {
  const { of, annotations } = attempt;
  const { reason } = failure;
  const shown = (text: string): string => cutMessage(maskSecrets(text, built?.manifests ?? []));
  const message = shown(failure.message);
  const phase = phaseOf(failure);
  const tried = phase === "fetch" ? before : attempted(before, attempt);
  const status = withConditions(
    withoutConditions(tried, "Stalled"),
    of,
    { type: "Reconciling", status: "True", reason: "ProgressingWithRetry", message: progressText(phase, attempt) },
    { type: "Ready", status: "False", reason, message },
    ...(health === undefined ? [] : [{ type: "Healthy", status: "False", reason, message: shown(health) } as const]),
  );
  const finished = finishedAttempt(reason, built, attempt);
  const history = finished && withSnapshot(before.history ?? [], finished, of.deps.clock.now());
  await of.write(handled(history === undefined ? status : { ...status, history: [...history] }, of));
  await of.tell({ type: "Warning", reason, message, annotations });
  await rememberRun(reason, changes, attempt);
  const { failures } = readMemo(of.run.memo);
  const dueInMs = retryInMs(failure.retry === "never" ? "interval" : failure.retry, failures, of);
  return { outcome: "failed", dueInMs, memo: { failures: failures + 1 } };
}

function finishedAttempt(
  reason: string,
  built: BuiltManifests | undefined,
  { of, source, startedAt }: Attempt,
): Finished | undefined {
  if (built === undefined || !counted.has(reason)) return undefined;
  const { revision, originRevision } = source;
  const durationMs = of.deps.clock.now() - startedAt;
  const key = built.carriesSecret ? of.deps.installationKey : undefined;
  return { digest: built.digest, key, status: reason, durationMs, revision, originRevision };
}
