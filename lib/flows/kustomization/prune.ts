import { prune as pruneSet } from "../../apply/prune/prune.ts";
import { newlyDeleted, type Pruned } from "../../apply/prune/pruned.ts";
import { parseEntryId } from "../../apply/set/entry-id.ts";
import { someOf } from "../../core/cut-text.ts";
import { Failure } from "../../core/failure.ts";
import { subject } from "../../core/object-ref.ts";
import { announceDeleted } from "../announce-changed.ts";
import { type AppliedRevision, logSkipped, recordLines } from "./apply.ts";
import { type Attempt, StepFailed, step } from "./attempt.ts";
import type { KustomizationContext } from "./context.ts";
import { showing } from "./status.ts";

/**
 * Deletes what the artifact no longer wants, or lets it go with `prune: false`. It is decided again: the apply took its time, and other
 * owners may have put objects there meanwhile.
 */
export const prune = step(async (revision: AppliedRevision, attempt: Attempt): Promise<AppliedRevision> => {
  const { ahead, inventory, isPartial, planned, set } = revision;
  const { ctx } = attempt;
  if (isPartial) return revision;
  const order = { ...planned.pruneTask, inventory, planned: planned.plan.prune, saved: ahead };
  const result = await pruneSet(order, set, ctx.run.signal);
  const { pruned } = result;
  countPruned(pruned, ctx);
  logSkippedPrunes(pruned, ctx);
  if (ctx.remote === undefined)
    await announceDeleted(newlyDeleted(pruned), ctx.run.key.cluster, ctx.deps, ctx.run.signal);
  // In the first run of a revision the next owner may just be a moment later. If it never comes, each later run says so.
  if (!attempt.isNew)
    recordPending(
      pruned.filter(({ entry }) => entry.state === "planned"),
      attempt.annotations,
      ctx,
    );
  const status = showing(result.inventory, ctx);
  const reached = { ...revision, pruned, inventory: result.inventory, status };
  recordLines(pruneLines(pruned), attempt);
  // As before the first write: what other owners have put there may be gone in a moment.
  if (result.refusals.length > 0) {
    const message = `${result.refusals.join("\n")}\n`;
    throw new StepFailed(new Failure("PruneFailed", message, { retry: "backoff" }), reached);
  }
  const refused = pruned.flatMap((one) => (one.kind === "refused" ? [`${one.message};`] : []));
  if (refused.length > 0) {
    throw new StepFailed(new Failure("PruneFailed", `delete failed, errors: ${refused.join("")}`), reached);
  }
  return reached;
});

/** The lines of Flux's event for a prune, without those that an earlier run has reported or a later one may report. Pure. */
export function pruneLines(pruned: readonly Pruned[]): readonly string[] {
  return pruned
    .filter(({ kind, entry }) => (kind === "deleted" || kind === "skipped") && entry.state !== "deleting")
    .map(({ kind, entry }) => `${subject(parseEntryId(entry.id))} ${kind}`);
}

const maxNamed = 10;

/** Records which objects stay for another owner that has not applied them yet. */
export function recordPending(
  pruned: readonly Pruned[],
  annotations: Readonly<Record<string, string>>,
  ctx: KustomizationContext,
): void {
  const kept = pruned.flatMap((one) =>
    one.kind === "pending" ? [`${subject(parseEntryId(one.entry.id))} not deleted: ${one.why}`] : [],
  );
  if (kept.length === 0) return;
  ctx.record({ type: "Normal", reason: "HandingOver", message: someOf(kept, maxNamed), annotations });
}

/** Counts the objects that a prune has deleted, each once however long it takes to go. */
export function countPruned(pruned: readonly Pruned[], { deps, run }: KustomizationContext): void {
  const deleted = pruned.filter(({ kind, entry }) => kind === "deleted" && entry.state !== "deleting");
  if (deleted.length > 0) deps.metrics.record(run.key, { ObjectsPruned: deleted.length });
}

/** Logs which objects a prune has kept and why: Flux's event says only `skipped`. */
export function logSkippedPrunes(pruned: readonly Pruned[], ctx: KustomizationContext): void {
  const skipped = pruned.flatMap((one) =>
    one.kind === "skipped" || one.kind === "pending"
      ? [{ object: subject(parseEntryId(one.entry.id)), why: one.why }]
      : [],
  );
  logSkipped("objects not pruned", skipped, ctx);
}
