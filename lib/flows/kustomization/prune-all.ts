import { findCondition } from "../../api/condition.ts";
import { sourceFaults } from "../../api/spec-references.ts";
import { liveObjects } from "../../apply/live-objects.ts";
import type { Pruned } from "../../apply/prune.ts";
import { Failure } from "../../core/failure.ts";
import { Outage } from "../../core/outage.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { appliedAnnotations } from "./annotations.ts";
import { leaveToOthers } from "./leave-to-others.ts";
import { pruneEntries, pruneLines } from "./prune-entries.ts";
import { type ResolvedSource, resolveSource } from "./resolve-source.ts";
import { servedRefs } from "./served-refs.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";
import { wantedBySiblings } from "./wanted-by-siblings.ts";

/**
 * Prunes all that a Kustomization has that is being deleted, but for what another one of the same source is about to have: so
 * one that is renamed keeps its objects.
 */
export async function pruneAll(inventory: readonly InventoryEntry[], of: SubjectOfRun): Promise<readonly Pruned[]> {
  const { cluster, deps, owner, run } = of;
  const known = inventory.filter(({ state }) => state !== "retained");
  const source = await sourceAtEnd(of);
  const entries =
    source === undefined ? known : leaveToOthers(known, (await wantedBySiblings(known, source, of)).soon, of);
  const live = await liveObjects(await servedRefs(entries, of), of, cluster, run.signal);
  const { pruned, inventory: left } = await pruneEntries(entries, inventory, live, of);
  await deps.inventories.save(owner, left, run.fence, run.signal);
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
