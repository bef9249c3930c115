import { findCondition, isTrue } from "../../api/condition.ts";
import { deletionPolicy, effectiveTimeoutMs } from "../../api/kustomization.ts";
import { finalizer, kustomizationStatusManager } from "../../api/names.ts";
import { parseEntryId } from "../../apply/entry-id.ts";
import { lookAFewTimes } from "../../apply/poll.ts";
import type { Pruned } from "../../apply/prune/pruned.ts";
import { backOffMs } from "../../core/back-off.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { mapLimit } from "../../core/map-limit.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { FlowResult } from "../../core/run.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { appliedAnnotations } from "./annotations.ts";
import { deletesObjects } from "./deletes-objects.ts";
import { inventoryOf } from "./inventory-of.ts";
import type { Memo } from "./memo.ts";
import { leaveAll, pruneAll } from "./prune-all.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** Between two looks at objects that are still terminating: Flux's own poll. */
const terminationLookMs = 2_000;

/**
 * The end of a Kustomization (reference section 5): deletes what its policy says, in reverse order and with all the checks of
 * a prune, then lets go of the object. Dependencies and stalls do not matter here, a failing source neither.
 */
export async function finalize(of: SubjectOfRun, memo: Memo): Promise<FlowResult> {
  const { cluster, deps, kustomization, live, owner, run } = of;
  if (!(live.metadata.finalizers ?? []).includes(finalizer)) return { outcome: "deleted", dueInMs: undefined };
  const startedAt = deps.clock.now();
  const { suspend, interval } = kustomization.spec;
  const { entries: inventory } = await inventoryOf(of);
  if (deletesObjects(kustomization.spec)) {
    const pruned = await pruneAll(inventory, of);
    if (pruned.some(({ kind }) => kind === "refused")) {
      return {
        outcome: "failed",
        dueInMs: backOffMs(memo.failures),
        memo: { failures: memo.failures + 1, isFinalizing: true },
      };
    }
    const since = (memo.isFinalizing ? memo.wait?.since : undefined) ?? startedAt;
    if (deletionPolicy(kustomization.spec) === "WaitForTermination" && !(await areGone(pruned, since, of))) {
      const wait = { phase: "deletion", revision: "", generation: of.generation, startedAt: since, since };
      return {
        outcome: "waiting",
        dueInMs: terminationLookMs,
        memo: { failures: 0, isFinalizing: true, wait: { ...wait, looks: 1, changed: true } },
      };
    }
  } else await leaveAll(inventory, of);
  const ids = inventory.map(({ id }) => id);
  await deps.ledger.release(owner.clusterUid, owner.uid, ids, run.fence, run.signal);
  await deps.inventories.remove(owner, run.fence, run.signal);
  await deps.edges.listen([], run.fence, run.signal);
  if (!suspend && isTrue(of.status().conditions ?? [], "Ready")) {
    const took = formatDuration(deps.clock.now() - startedAt);
    const annotations = { ...appliedAnnotations(of), "kustomize.toolkit.fluxcd.io/commit_status": "update" };
    const message = `Reconciliation finished in ${took}, next run in ${formatDuration(parseDuration(interval))}`;
    await of.tell({ type: "Normal", reason: "ReconciliationSucceeded", message, annotations });
  }
  const others = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);
  await writeFinalizers(live, others, { cluster, manager: kustomizationStatusManager }, run.signal);
  return { outcome: "deleted", dueInMs: undefined };
}

/** Whether all that was deleted is gone, or the time for that is over: then the deletion goes on and says so. */
async function areGone(pruned: readonly Pruned[], since: number, of: SubjectOfRun): Promise<boolean> {
  const { deps, kustomization, run } = of;
  const held = pruned.flatMap(({ kind, entry }) =>
    kind === "deleted" ? [{ ...parseEntryId(entry.id), version: entry.version }] : [],
  );
  const gone = await lookAFewTimes(
    async () => {
      const found = await mapLimit(held, 8, (ref, stop) => getOrGone(ref, of, stop), run.signal);
      return found.every((object) => !object) ? true : undefined;
    },
    deps.clock,
    run.signal,
  );
  if (gone !== undefined) return true;
  if (deps.clock.now() - since < effectiveTimeoutMs(kustomization.spec)) return false;
  const reason = findCondition(of.status().conditions ?? [], "Ready")?.reason ?? "Error";
  const message = "failed to wait for resources termination";
  await of.tell({ type: "Warning", reason, message, annotations: appliedAnnotations(of) });
  deps.log.warn(message, { ...run.key });
  return true;
}

async function getOrGone(
  ref: Parameters<SubjectOfRun["cluster"]["get"]>[0],
  { cluster }: SubjectOfRun,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await cluster.get(ref, signal)) !== undefined;
  } catch (error) {
    // A kind that is served no more has no objects.
    if (error instanceof ApiError && error.reason === "NoMatch") return false;
    throw error;
  }
}
