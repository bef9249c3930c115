import { kustomizeGroup } from "../../api/names.ts";
import type { DesiredObject } from "../../apply/desired-objects.ts";
import { parseEntryId } from "../../apply/entry-id.ts";
import { type Extent, extentOf, isWithin } from "../../apply/extent.ts";
import type { LiveObjects } from "../../apply/live-objects.ts";
import { pruneRefusal, type Wanted } from "../../apply/prune-refusal.ts";
import { reasonToKeep } from "../../apply/reason-to-keep.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { otherOwner } from "./other-owner.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";
import { wantedByKustomizations } from "./wanted-by-kustomizations.ts";

/** A namespace or definition that a prune would delete, and with it all that is within. */
interface Doomed {
  readonly ref: ObjectRef;
  readonly extent: Extent;
}

/**
 * Why these entries may not be pruned: one line for each namespace or definition with which something would go that the
 * artifact still wants, or another Kustomization that lives on, or such a Kustomization itself. Asks the cluster only where
 * a namespace or definition is to go.
 */
export async function refusePrune(
  stale: readonly InventoryEntry[],
  desired: readonly DesiredObject[],
  live: LiveObjects,
  of: SubjectOfRun,
): Promise<readonly string[]> {
  const doomed = await doomedBy(stale, live, of);
  if (doomed.length === 0) return [];
  const others = await wantedByOthers(stale, of);
  const refusals: string[] = [];
  for (const { ref, extent } of doomed) {
    const own = desired.filter((object) => isWithin(object.ref, object.resource?.plural, extent));
    const wanted = [...own.map((object) => ({ ref: object.ref })), ...(await within(others, extent, of))];
    if (wanted.length > 0) refusals.push(pruneRefusal(ref, wanted));
  }
  return refusals;
}

/** What is gone, on its way out, protected or handed over is deleted by nobody here, so nothing goes with it. */
async function doomedBy(
  stale: readonly InventoryEntry[],
  live: LiveObjects,
  of: SubjectOfRun,
): Promise<readonly Doomed[]> {
  const doomed: Doomed[] = [];
  for (const entry of stale) {
    const ref = parseEntryId(entry.id);
    const extent = extentOf(ref);
    const metadata = live.get(entry.id)?.metadata;
    if (extent === undefined || metadata === undefined || metadata.deletionTimestamp !== undefined) continue;
    const { deps, name, namespace, owner, run } = of;
    const heir = async (id: string, signal: AbortSignal) =>
      otherOwner((await deps.ledger.claims(owner.clusterUid, [id], signal)).get(id) ?? [], of);
    const why = await reasonToKeep(entry, metadata, { owner: { name, namespace }, otherOwner: heir }, run.signal);
    if (why === undefined) doomed.push({ ref, extent });
  }
  return doomed;
}

/**
 * The ledger has a row for each object and none for a namespace, so it could only be asked by reading all of it; this is one
 * list, and knows what Flux has applied too.
 */
async function wantedByOthers(stale: readonly InventoryEntry[], of: SubjectOfRun): Promise<readonly Wanted[]> {
  const { deps, owner, run } = of;
  const kind = { group: kustomizeGroup, version: "v1", kind: "Kustomization" };
  // With our own rights: whether something of others would be lost is no question of what this object's account may see.
  const all = await deps.cluster.list(kind, run.signal);
  return wantedByKustomizations(all, { uid: owner.uid, staleIds: new Set(stale.map(({ id }) => id)) });
}

async function within(others: readonly Wanted[], extent: Extent, of: SubjectOfRun): Promise<readonly Wanted[]> {
  if (extent.kind === "namespace") return others.filter(({ ref }) => isWithin(ref, undefined, extent));
  const plurals = new Map<string, string | undefined>();
  const ofGroup = others.filter(({ ref }) => ref.group === extent.group);
  for (const { group, kind } of ofGroup.map(({ ref }) => ref)) {
    if (!plurals.has(kind)) plurals.set(kind, (await of.cluster.resource({ group, kind }, of.run.signal))?.plural);
  }
  return ofGroup.filter(({ ref }) => isWithin(ref, plurals.get(ref.kind), extent));
}
