import { retryIntervalMs } from "../../api/kustomization.ts";
import { backOffMs } from "../../core/back-off.ts";
import type { Retry } from "../../core/failure.ts";
import type { FlowResult } from "../../core/run.ts";
import { handled, withConditions, withoutConditions } from "./end-of-run.ts";
import { saveUnderGeneration } from "./inventory-of.ts";
import { readMemo } from "./memo.ts";
import type { Blocked } from "./outcome.ts";
import { requeueDependencyMs } from "./resolve-source.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** Says why a run could not work on its revision, and when to try again. */
export async function reportBlocked(of: SubjectOfRun, blocked: Blocked): Promise<FlowResult> {
  const { reason, message, stalled, event } = blocked;
  const ready = { type: "Ready", status: "False", reason, message } as const;
  const status = of.status();
  const said = stalled
    ? withConditions(withoutConditions(status, "Reconciling"), of, ready, { ...ready, type: "Stalled", status: "True" })
    : withConditions(withoutConditions(status, "Stalled"), of, ready);
  const next = handled(said, of);
  // Only a change of the object helps, so this generation is done with: whoever waits for it need not wait longer.
  if (stalled) await saveUnderGeneration(of);
  await of.write(stalled ? { ...next, observedGeneration: of.generation } : next);
  if (event !== undefined) await of.tell({ ...event, reason, annotations: blocked.annotations ?? {} });
  const { failures } = readMemo(of.run.memo);
  const memo = { failures: failures + 1 };
  return { outcome: stalled ? "stalled" : "waiting", dueInMs: retryInMs(blocked.retry, failures, of), memo };
}

/** When a run that failed is tried again without an event. */
export function retryInMs(retry: Retry, failures: number, of: SubjectOfRun): number | undefined {
  switch (retry) {
    case "never":
      return undefined;
    case "dependency":
      return requeueDependencyMs;
    case "interval":
      return retryIntervalMs(of.kustomization.spec) ?? backOffMs(failures);
    case "backoff":
      return backOffMs(failures);
  }
}
