import { effectiveTimeoutMs } from "../../api/kustomization.ts";
import { subject } from "../../core/object-ref.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { recordedArtifact } from "../source/read-source.ts";
import { type Preconditions, readCarriedState } from "./attempt.ts";
import type { KustomizationContext } from "./context.ts";
import { originRevisionKey, type ResolvedSource } from "./resolve-source.ts";
import { handled, revisionAnnotations, withConditions } from "./status.ts";

// Decides about a wait for health if there is something newer to apply (reference 3.17, statement 113).

/**
 * What this run works on. With the gate CancelHealthCheckOnNewRevision that is always the newest revision, and a wait for the health of
 * an older one is reported as canceled. Without it a wait goes on until it has ended, as in Flux.
 */
export async function chooseRevision(met: Preconditions, ctx: KustomizationContext): Promise<Preconditions> {
  const { wait } = readCarriedState(ctx.run.carried);
  const isOld = wait?.revision !== met.source.revision || wait.generation !== ctx.generation;
  if (wait?.phase !== "health" || !isOld) return met;
  if (ctx.deps.gates.CancelHealthCheckOnNewRevision) {
    await reportCanceled(wait.generation === ctx.generation ? met.source.name : subject(ctx.run.key), met, ctx);
    return met;
  }
  // With a changed spec the wait is over.
  if (wait.artifact === undefined || wait.generation !== ctx.generation) return met;
  if (ctx.deps.clock.now() - wait.since > 2 * effectiveTimeoutMs(ctx.kustomization.spec)) return met;
  const older = olderSource(met.source, wait.artifact);
  return (await recordedArtifact(older, ctx)) === undefined ? met : { ...met, source: older, isOlder: true };
}

function olderSource(source: ResolvedSource, artifact: ResolvedSource["artifact"]): ResolvedSource {
  return { ...source, artifact, revision: artifact.revision, originRevision: artifact.metadata?.[originRevisionKey] };
}

/** The run of an older revision that has ended makes room for the newest one at once. */
export function thenTheNewest(result: FlowResult, { isOlder }: Preconditions): FlowResult {
  return isOlder === true && result.outcome !== "waiting" ? { ...result, dueInMs: 0 } : result;
}

async function reportCanceled(trigger: string, { source }: Preconditions, ctx: KustomizationContext): Promise<void> {
  const because = `triggered by ${trigger}`;
  const reason = "HealthCheckCanceled";
  const message = `New reconciliation ${because}`;
  await ctx.write(handled(withConditions(ctx.status(), ctx, { type: "Ready", status: "False", reason, message }), ctx));
  const { lastAttemptedRevision = source.revision } = ctx.status();
  const annotations = revisionAnnotations(lastAttemptedRevision, undefined);
  ctx.record({
    type: "Normal",
    reason,
    message: `Health checks canceled due to new reconciliation ${because}`,
    annotations,
  });
}
