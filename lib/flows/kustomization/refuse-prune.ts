import { kustomizeGroup } from "../../api/names.ts";
import type { DesiredObject } from "../../apply/desired-objects.ts";
import { formatEntryId, parseEntryId } from "../../apply/entry-id.ts";
import { type Extent, extentOf, isWithin } from "../../apply/extent.ts";
import type { LiveObjects } from "../../apply/live-objects.ts";
import { pruneRefusal, type Wanted } from "../../apply/prune-refusal.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { judgeEntries } from "./judge-entries.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";
import { wantedByKustomizations } from "./wanted-by-kustomizations.ts";

/** A namespace or definition that a prune would delete, and with it all that is within. */
interface Doomed {
  readonly ref: ObjectRef;
  readonly extent: Extent;
}

/**
 * Why what of the inventory is wanted no more may not be pruned: one line for each namespace or definition with which
 * something would go that is to stay: what the artifact wants, what another Kustomization that lives on has, such a
 * Kustomization itself, and what the prune leaves alone. Asks the cluster only where a namespace or definition is to go.
 */
export async function refusePrune(
  inventory: readonly InventoryEntry[],
  desired: readonly DesiredObject[],
  live: LiveObjects,
  of: SubjectOfRun,
): Promise<readonly string[]> {
  const wantedIds = new Set(desired.map(({ id }) => id));
  const unwanted = inventory.filter(({ id }) => !wantedIds.has(id));
  const doomed = await doomedBy(unwanted, live, of);
  if (doomed.length === 0) return [];
  const judged = await judgeEntries(
    unwanted.filter(({ id }) => doomed.some(({ extent }) => mayBeWithin(parseEntryId(id), extent))),
    live,
    of,
  );
  const others = await wantedByOthers(unwanted, of);
  const refusals: string[] = [];
  for (const { ref, extent } of doomed) {
    const wanted = [
      ...desired.filter((object) => isWithin(object.ref, object.resource?.plural, extent)),
      ...(await within(others, extent, of)),
      ...judged.filter((object) => object.why !== undefined && isWithin(object.ref, object.plural, extent)),
    ];
    if (wanted.length > 0) refusals.push(pruneRefusal(ref, eachOnce(wanted)));
  }
  return refusals;
}

/** What is gone, on its way out, protected or handed over is deleted by nobody here, so nothing goes with it. */
async function doomedBy(
  unwanted: readonly InventoryEntry[],
  live: LiveObjects,
  of: SubjectOfRun,
): Promise<readonly Doomed[]> {
  const candidates = unwanted.filter(({ id }) => extentOf(parseEntryId(id)) !== undefined);
  const judged = await judgeEntries(candidates, live, of);
  return judged.flatMap(({ ref, why }) => {
    const extent = why === undefined ? extentOf(ref) : undefined;
    return extent === undefined ? [] : [{ ref, extent }];
  });
}

/** What can be said without the cluster. */
function mayBeWithin({ group, namespace }: ObjectRef, extent: Extent): boolean {
  return extent.kind === "namespace" ? namespace === extent.namespace : group === extent.group;
}

function eachOnce(wanted: readonly Wanted[]): readonly Wanted[] {
  const byId = new Map<string, Wanted>();
  for (const { ref, owner, why } of wanted) {
    const id = formatEntryId(ref);
    if (!byId.has(id)) byId.set(id, { ref, owner, why });
  }
  return [...byId.values()];
}

/**
 * The ledger has a row for each object and none for a namespace, so it could only be asked by reading all of it; this is one
 * list, and knows what Flux has applied too.
 */
async function wantedByOthers(unwanted: readonly InventoryEntry[], of: SubjectOfRun): Promise<readonly Wanted[]> {
  const { deps, owner, run } = of;
  const kind = { group: kustomizeGroup, version: "v1", kind: "Kustomization" };
  // With our own rights: whether something of others would be lost is no question of what this object's account may see.
  const all = await deps.cluster.list(kind, run.signal);
  const staleIds = new Set(unwanted.filter(({ state }) => state !== "retained").map(({ id }) => id));
  return wantedByKustomizations(all, { uid: owner.uid, staleIds });
}

async function within(others: readonly Wanted[], extent: Extent, of: SubjectOfRun): Promise<readonly Wanted[]> {
  const near = others.filter(({ ref }) => mayBeWithin(ref, extent));
  if (extent.kind === "namespace") return near;
  const plurals = new Map<string, string | undefined>();
  for (const { group, kind } of near.map(({ ref }) => ref)) {
    if (!plurals.has(kind)) plurals.set(kind, (await of.cluster.resource({ group, kind }, of.run.signal))?.plural);
  }
  return near.filter(({ ref }) => isWithin(ref, plurals.get(ref.kind), extent));
}
