import type { FlowResult } from "../../core/ports/run.ts";
import { exceededText } from "../../helm/next-action.ts";
import { activeRemediation, isExhausted, retryIntervalMs } from "../../helm/remediation.ts";
import type { Loop } from "./loop-state.ts";
import { withoutConditions } from "./release-status.ts";
import { reportDone, reportRequeue, reportRetry, reportStalled } from "./report.ts";

/** After a remediation the pass ends. */
export async function endAfterRemediation(
  { attempt, carried, status }: Loop,
  retryMs: number | undefined,
): Promise<FlowResult> {
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
export async function endBeforeRepeat({ attempt, carried, status }: Loop): Promise<FlowResult> {
  const { ctx } = attempt;
  const { spec } = ctx.release;
  const retryMs = retryIntervalMs(status.lastAttemptedReleaseAction, spec);
  if (retryMs !== undefined) return reportRetry(status, retryMs, carried, attempt);
  const remediation = activeRemediation(spec, status);
  if (remediation === undefined || !isExhausted(remediation)) return reportRequeue(status, carried, attempt);
  return reportDone(withoutConditions(status, "Reconciling"), carried, attempt);
}
