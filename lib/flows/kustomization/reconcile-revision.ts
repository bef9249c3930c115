import { effectiveTimeoutMs } from "../../api/kustomization.ts";
import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import type { Pending } from "../../apply/apply-all.ts";
import { emptiedWarning } from "../../apply/emptied-warning.ts";
import type { Plan } from "../../apply/plan.ts";
import { allEnded } from "../../core/all-ended.ts";
import { Failure } from "../../core/failure.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { FlowResult } from "../../core/run.ts";
import { buildInput } from "../../manifests/build-input.ts";
import { maskSecrets } from "../../manifests/mask-secrets.ts";
import { type AppliedRevision, ApplyFailed, applyRevision, changeLines } from "./apply-revision.ts";
import { type Attempt, attempted, beginAttempt, elapsedText, progressText, waitFor } from "./attempt.ts";
import { awaitHealth } from "./await-health.ts";
import type { BuiltManifests } from "./deps.ts";
import { handled, inProgress, withConditions } from "./end-of-run.ts";
import { healthTargets } from "./health-targets.ts";
import { leavingOut, warnOfLeftOut } from "./left-out-fields.ts";
import { nextDeletionLookMs, nextLookMs, type Wait } from "./memo.ts";
import { pruneLines } from "./prune-lines.ts";
import { noChanges } from "./remember-run.ts";
import { reportBlocked } from "./report-blocked.ts";
import { reportFailure } from "./report-failure.ts";
import { reportSuccess, type Success } from "./report-success.ts";
import { askForArtifact, fetchArtifact, type ResolvedSource, recordedArtifact } from "./resolve-source.ts";
import { statusInventory } from "./shown-inventory.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** How long a stage of definitions may take to be served: Flux's own limit. */
const stageTimeoutMs = 60_000;

/** Fetch, build, plan, apply, prune, health, report: one revision of the source into the cluster. */
export async function reconcileRevision(run: SubjectOfRun, source: ResolvedSource): Promise<FlowResult> {
  const { of, leftOut } = leavingOut(run);
  const attempt = beginAttempt(of, source);
  let built: BuiltManifests | undefined;
  let status = of.status();
  let changes = noChanges;
  try {
    built = await fetchAndBuild(source, of);
    if (built === undefined) return await reportBlocked(of, await askForArtifact(source, of));
    const applied = await applyRevision(built.manifests, of, {
      source,
      beforeFirstWrite: async (plan) => {
        // An earlier run of a wait has told it, and says there what is waited for.
        const isTold = attempt.wait?.phase === "apply" || attempt.wait?.phase === "deletion";
        const told = isTold ? undefined : tellProgress("apply", of.status(), attempt);
        await allEnded([told ?? Promise.resolve(), warnIfEmptied(plan, attempt)]);
      },
      isAwaited: attempt.wait !== undefined,
    });
    changes = applied;
    status = showing(applied.inventory, of);
    const told = warnOfLeftOut(leftOut, applied.applied, attempt).then(() => tellChanges(applied, attempt));
    const [result] = await allEnded([conclude({ applied, built, status, told }, attempt), told]);
    return result;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error instanceof ApplyFailed) {
      changes = { applied: error.applied, pruned: [] };
      status = showing(error.inventory, of);
      await warnOfLeftOut(leftOut, error.applied, attempt);
    }
    return reportFailure(error, { status, built, changes }, attempt);
  }
}

/** The status with this inventory: what stands in the cluster is shown however the run ends, for others and for Flux. */
function showing(inventory: readonly InventoryEntry[], of: SubjectOfRun): KustomizationStatus {
  const status = of.status();
  return { ...status, inventory: statusInventory(inventory, status.inventory) };
}

/** Undefined where the artifact is not there. It is fetched only where it was not built before. */
async function fetchAndBuild(source: ResolvedSource, of: SubjectOfRun): Promise<BuiltManifests | undefined> {
  const artifact = await recordedArtifact(source, of);
  if (artifact === undefined) return undefined;
  const input = buildInput(of.kustomization, artifact, () => fetchArtifact(artifact, of));
  return of.deps.build(input, of.run.signal);
}

/** Ready is Unknown from the first write on, so that nobody takes a half-applied revision for an applied one. */
async function tellProgress(phase: "apply" | "health", status: KustomizationStatus, attempt: Attempt): Promise<void> {
  await attempt.of.write(attempted(inProgress(status, progressText(phase, attempt), attempt.of), attempt));
}

/** An empty revision prunes everything, as in Flux; that is told before, so that nobody has to find out why. */
async function warnIfEmptied(plan: Plan, { of, source, annotations }: Attempt): Promise<void> {
  const warning = of.kustomization.spec.prune ? emptiedWarning(plan) : undefined;
  if (warning === undefined) return;
  const { lastAppliedRevision } = of.status();
  // Where the revision is the same, the spec has emptied it: no artifact mends that.
  const isMend = lastAppliedRevision !== undefined && lastAppliedRevision !== source.revision;
  const mend = isMend ? `; if that is not meant, publish ${lastAppliedRevision} again` : "";
  const message = `${warning}${mend}`;
  of.deps.log.warn(message, { ...of.run.key });
  await of.tell({ type: "Warning", reason: "PruningAll", message, annotations });
}

async function tellChanges({ applied, pruned }: AppliedRevision, { of, annotations }: Attempt): Promise<void> {
  for (const lines of [changeLines(applied), pruneLines(pruned)]) {
    if (lines.length === 0) continue;
    await of.tell({ type: "Normal", reason: "Progressing", message: lines.join("\n"), annotations });
  }
}

function assertAllPruned({ pruned, pruneRefusals }: AppliedRevision): void {
  // As before the first write: what others have put there may be gone in a moment.
  if (pruneRefusals.length > 0) throw new Failure("PruneFailed", `${pruneRefusals.join("\n")}\n`, { retry: "backoff" });
  const refused = pruned.flatMap((one) => (one.kind === "refused" ? [`${one.message};`] : []));
  if (refused.length > 0) throw new Failure("PruneFailed", `delete failed, errors: ${refused.join("")}`);
}

/** Something is not served yet, or is to be gone first: says so and runs again soon, within limits. */
async function awaitPending(
  { why, on }: Pending,
  { applied, built, status }: Landed,
  attempt: Attempt,
): Promise<FlowResult> {
  const { of } = attempt;
  const wait = waitFor(on === "stage" ? "apply" : "deletion", changeLines(applied.applied).length > 0, attempt);
  const limitMs = on === "stage" ? stageTimeoutMs : effectiveTimeoutMs(of.kustomization.spec);
  if (of.deps.clock.now() - wait.since >= limitMs) throw new Failure("ReconciliationFailed", `${why}\n`);
  await of.write(attempted(inProgress(status, maskSecrets(why, built.manifests), of), attempt));
  return lookAgainLater(wait, on === "stage" ? nextLookMs : nextDeletionLookMs);
}

function lookAgainLater(wait: Wait, pace: (looks: number) => number): FlowResult {
  const memo = { failures: 0, wait: { ...wait, looks: wait.looks + 1 } };
  return { outcome: "waiting", dueInMs: pace(wait.looks), memo };
}

/** What stands in the cluster when apply and prune are over. */
type Landed = Pick<Success, "applied" | "built" | "status" | "told">;

async function conclude(landed: Landed, attempt: Attempt): Promise<FlowResult> {
  const { pending } = landed.applied;
  assertAllPruned(landed.applied);
  if (pending !== undefined) return awaitPending(pending, landed, attempt);
  return concludeHealth(landed, attempt);
}

/** The last step: what was applied becomes healthy, or the attempt fails, or a later run looks again. */
async function concludeHealth(landed: Landed, attempt: Attempt): Promise<FlowResult> {
  const { applied, built, status, told } = landed;
  const reached = { status, built, changes: applied };
  const { of } = attempt;
  const wait = waitFor("health", changeLines(applied.applied).length > 0, attempt);
  const targets = await healthTargets(applied.applied, of);
  if (typeof targets !== "string" && targets.length === 0)
    return reportSuccess({ ...landed, wait, health: undefined }, attempt);
  // From here on it takes time, and what changed is news at once.
  await told;
  if (typeof targets === "string") return reportFailure(unhealthy(targets, wait, attempt), reached, attempt, targets);
  const outcome = await awaitHealth(targets, wait, of, () => tellHealthWait(status, attempt));
  switch (outcome.kind) {
    case "healthy": {
      const health = `Health check passed in ${elapsedText(attempt, wait.since)}`;
      return reportSuccess({ ...landed, wait, health }, attempt);
    }
    case "waiting":
      return lookAgainLater(wait, nextLookMs);
    case "failed":
    case "timedOut": {
      const failure = unhealthy(outcome.message, wait, attempt);
      return reportFailure(failure, reached, attempt, outcome.message);
    }
  }
}

function unhealthy(message: string, wait: Wait, attempt: Attempt): Failure {
  return new Failure("HealthCheckFailed", `health check failed after ${elapsedText(attempt, wait.since)}: ${message}`);
}

async function tellHealthWait(status: KustomizationStatus, attempt: Attempt): Promise<void> {
  const message = progressText("health", attempt);
  const healthy = { type: "Healthy", status: "Unknown", reason: "Progressing", message } as const;
  const progress = inProgress(status, message, attempt.of);
  await attempt.of.write(handled(attempted(withConditions(progress, attempt.of, healthy), attempt), attempt.of));
}
