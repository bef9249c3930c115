import type { AppliedObject } from "../../apply/apply-object.ts";
import type { Pruned } from "../../apply/prune/pruned.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** Counts the objects that an apply has changed. */
export function countApplied(applied: readonly AppliedObject[], { deps, run }: SubjectOfRun): void {
  const changed = applied.filter(({ change }) => change === "created" || change === "configured");
  if (changed.length > 0) deps.metrics.record(run.key, { ObjectsApplied: changed.length });
}

/** Counts the objects that a prune has deleted, each once however long it takes to go. */
export function countPruned(pruned: readonly Pruned[], { deps, run }: SubjectOfRun): void {
  const deleted = pruned.filter(({ kind, entry }) => kind === "deleted" && entry.state !== "deleting");
  if (deleted.length > 0) deps.metrics.record(run.key, { ObjectsPruned: deleted.length });
}
