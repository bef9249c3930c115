import { z } from "zod";
import { backOffMs } from "../../core/back-off.ts";
import type { Failure } from "../../core/failure.ts";
import type { FlowResult } from "../../core/run.ts";
import { RegistryFault } from "../../sources/oci/registry-fault.ts";
import { failed, isTold, stalled } from "./stages.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** Failures in a row, kept from run to run so that the waits between them grow. A hint: without it they begin anew. */
const Memo = z.object({ failures: z.number().int().min(0) });

/** The run failed in a way that was foreseen: says so, tells of it unless that was told already, and plans the next try. */
export async function reportFailure(failure: Failure, of: SubjectOfRun): Promise<FlowResult> {
  const isStalled = failure.retry === "never";
  const isAsked = of.requestedAt !== undefined && of.requestedAt !== of.before.lastHandledReconcileAt;
  const isNews = !isTold(of.before, failure) || isAsked;
  await of.conclude(isStalled ? stalled(of.status(), failure, of.now()) : failed(of.status(), failure, of.now()));
  of.deps.log.info("reconcile failed", { ...of.run.key, reason: failure.reason, error: failure.message });
  if (isNews) {
    await of.tell({ type: "Warning", reason: failure.reason, message: failure.message, annotations: {} });
  }
  if (isStalled) return { outcome: "stalled", dueInMs: undefined };
  const failures = Memo.safeParse(of.run.memo).data?.failures ?? 0;
  const dueInMs = Math.max(backOffMs(failures), retryAfterMs(failure));
  return { outcome: "failed", dueInMs, memo: { failures: failures + 1 } };
}

/** What the registry asked for (429, 503) wherever it lies in the chain of causes. */
function retryAfterMs(error: unknown): number {
  if (error instanceof RegistryFault) return error.retryAfterMs ?? 0;
  return error instanceof Error ? retryAfterMs(error.cause) : 0;
}
