import { messageOf } from "../core/failure.ts";
import type { Metadata } from "../core/manifest.ts";
import { mapLimit } from "../core/map-limit.ts";
import { subject, type VersionedRef } from "../core/object-ref.ts";
import { ApiError, type Cluster, type PartialObject } from "../core/ports/cluster.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import { byApplyOrder } from "./apply-order.ts";
import { parseEntryId } from "./entry-id.ts";
import type { LiveObjects } from "./live-objects.ts";
import { type KeepDeps, type ReasonToKeep, reasonToKeep } from "./reason-to-keep.ts";

/** What became of one object that is no longer wanted. */
export type Pruned =
  /** The API server accepted the delete, or it was gone already. `held`: a finalizer still keeps it. */
  | { readonly kind: "deleted"; readonly entry: InventoryEntry; readonly held: boolean }
  /** Kept: an annotation protects it, its owner labels name another, somebody else claims it, or it is another object. */
  | ({ readonly kind: "skipped"; readonly entry: InventoryEntry } & ReasonToKeep)
  | { readonly kind: "refused"; readonly entry: InventoryEntry; readonly message: string };

export interface PruneDeps extends KeepDeps {
  readonly cluster: Cluster;
  readonly concurrency: number;
}

/** How often a delete is decided anew because somebody wrote the object between the look and the delete. */
export const maxLooks = 4;

/**
 * Deletes what the inventory lists and nobody wants any more, in reverse apply order. Each delete carries the uid and the
 * resourceVersion of the object that was judged, so it can never hit another one. All objects are tried.
 */
export async function prune(
  entries: readonly InventoryEntry[],
  live: LiveObjects,
  deps: PruneDeps,
  signal: AbortSignal,
): Promise<readonly Pruned[]> {
  const ordered = entries
    .map((entry) => ({ entry, ref: { ...parseEntryId(entry.id), version: entry.version } }))
    .toSorted((a, b) => byApplyOrder(b.ref, a.ref));
  const pruned: Pruned[] = [];
  for (const sameKind of Map.groupBy(ordered, ({ ref }) => `${ref.group}/${ref.kind}`).values()) {
    const done = await mapLimit(
      sameKind,
      deps.concurrency,
      ({ entry, ref }, stop) => pruneOne(entry, ref, live.get(entry.id), deps, stop),
      signal,
    );
    pruned.push(...done);
  }
  return pruned;
}

async function pruneOne(
  entry: InventoryEntry,
  recorded: VersionedRef,
  listed: PartialObject | undefined,
  deps: PruneDeps,
  signal: AbortSignal,
): Promise<Pruned> {
  let step = "query";
  try {
    const ref = await servedRef(recorded, deps.cluster, signal);
    // A kind that is served no more has taken its objects along.
    if (ref === undefined) return { kind: "deleted", entry, held: false };
    let seen: { readonly metadata: Metadata } | undefined = listed;
    for (let look = 1; ; look++) {
      seen ??= await deps.cluster.get(ref, signal);
      if (seen === undefined) return { kind: "deleted", entry, held: false };
      const reason = await reasonToKeep(entry, seen.metadata, deps, signal);
      if (reason !== undefined) return { kind: "skipped", entry, ...reason };
      if (seen.metadata.deletionTimestamp !== undefined) return { kind: "deleted", entry, held: true };
      step = "delete";
      try {
        const outcome = await deps.cluster.delete(ref, judgedOnly(seen.metadata), signal);
        return { kind: "deleted", entry, held: outcome === "deleting" };
      } catch (error) {
        if (!(error instanceof ApiError && error.reason === "Conflict") || look === maxLooks) throw error;
        seen = undefined;
      }
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: "refused", entry, message: `${subject(recorded)} ${step} failed: ${messageOf(error)}` };
  }
}

/** Deletes the object that was judged, and no other or later state of it. */
export function judgedOnly({ uid, resourceVersion }: Metadata) {
  return {
    propagation: "Background",
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  } as const;
}

/** The version to read and delete it in: the recorded one, or the one that the cluster prefers now. */
async function servedRef(ref: VersionedRef, cluster: Cluster, signal: AbortSignal): Promise<VersionedRef | undefined> {
  const { group, kind, version } = ref;
  const resource =
    (await cluster.resource({ group, kind, version }, signal)) ?? (await cluster.resource({ group, kind }, signal));
  return resource && { ...ref, version: resource.version };
}
