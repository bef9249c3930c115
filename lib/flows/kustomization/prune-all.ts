import { findCondition } from "../../api/condition.ts";
import { sourceFaults } from "../../api/spec-references.ts";
import { liveObjects } from "../../apply/live-objects.ts";
import { unwantedOf } from "../../apply/prune/gather-facts.ts";
import { prune } from "../../apply/prune/prune.ts";
import type { Pruned } from "../../apply/prune/pruned.ts";
import { Failure } from "../../core/failure.ts";
import { Outage } from "../../core/outage.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { appliedAnnotations } from "./annotations.ts";
import { applySetOf } from "./apply-set-of.ts";
import { countPruned } from "./count-objects.ts";
import { logSkippedPrunes } from "./log-skipped.ts";
import { pruneLines } from "./prune-lines.ts";
import { type ResolvedSource, resolveSource } from "./resolve-source.ts";
import { servedRefs } from "./served-refs.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/**
 * Prunes all objects of a Kustomization that is being deleted, except those that another one of the same source is about to
 * have: so a Kustomization that is renamed keeps its objects. What another one claims is handed over to it.
 */
export async function pruneAll(inventory: readonly InventoryEntry[], of: SubjectOfRun): Promise<readonly Pruned[]> {
  const { cluster, deps, run } = of;
  const source = await sourceAtEnd(of);
  const live = await liveObjects(await servedRefs(unwantedOf(inventory, []), of), of, cluster, run.signal);
  const order = { ...leaving, policy: "prune", inventory, saved: inventory, live } as const;
  const { pruned } = await prune(order, applySetOf(of, source), run.signal);
  countPruned(pruned, of);
  logSkippedPrunes(pruned, of);
  const lines = pruneLines(pruned);
  const reason = findCondition(of.status().conditions ?? [], "Ready")?.reason ?? "Info";
  const annotations = appliedAnnotations(of);
  if (lines.length > 0) await of.tell({ type: "Normal", reason, message: lines.join("\n"), annotations });
  if (pruned.some(({ kind }) => kind === "refused")) {
    const message = "pruning for deleted resource failed";
    await of.tell({ type: "Warning", reason, message, annotations });
    deps.log.warn(message, {
      ...run.key,
      refused: pruned.flatMap((one) => (one.kind === "refused" ? one.message : [])),
    });
  }
  return pruned;
}

/** Leaves all objects of a Kustomization that is being deleted, and wakes the owners that wait for its claims to end. */
export async function leaveAll(inventory: readonly InventoryEntry[], of: SubjectOfRun): Promise<void> {
  const order = { ...leaving, policy: "retain", inventory, saved: inventory, live: new Map() } as const;
  await prune(order, applySetOf(of, undefined), of.run.signal);
}

const leaving = { isLeaving: true, wanted: [], planned: [] } as const;

/**
 * A source that is not there, or that cannot be read, brings no object to another Kustomization: it must not hold a deletion. One of
 * another namespace counts although `no-cross-namespace-refs` forbids it: a Kustomization that moves to its namespace keeps its objects.
 */
async function sourceAtEnd(of: SubjectOfRun): Promise<ResolvedSource | undefined> {
  const { spec } = of.kustomization;
  if (spec.sourceRef.kind !== "OCIRepository" || sourceFaults(spec).length > 0) return undefined;
  try {
    const source = await resolveSource(of);
    return source.kind === "resolved" ? source : undefined;
  } catch (error) {
    if (error instanceof Failure || isNotServed(error)) return undefined;
    throw error;
  }
}

function isNotServed(error: unknown): boolean {
  return error instanceof Outage && error.cause instanceof ApiError && error.cause.reason === "NoMatch";
}
