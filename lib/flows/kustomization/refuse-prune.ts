import { kustomizeGroup } from "../../api/names.ts";
import type { DesiredObject } from "../../apply/desired-objects.ts";
import { formatEntryId, parseEntryId } from "../../apply/entry-id.ts";
import { type Extent, extentOf, isWithin, mightBeWithin } from "../../apply/extent.ts";
import type { LiveObjects } from "../../apply/live-objects.ts";
import { pruneRefusal, type Wanted } from "../../apply/prune-refusal.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { judgeEntries } from "./judge-entries.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";
import { wantedByKustomizations } from "./wanted-by-kustomizations.ts";
import type { Others } from "./wanted-by-siblings.ts";

/** A namespace or definition that a prune would delete, and with it all that is within. */
interface Doomed {
  readonly ref: ObjectRef;
  readonly extent: Extent;
}

/**
 * Why what of the inventory is wanted no more may not be pruned: one line for each namespace or definition with which
 * something would go that is to stay: what the artifact wants, what another Kustomization that lives on has or is about to
 * have, such a Kustomization itself, and what the prune leaves alone. Asks the cluster only where a namespace or definition
 * is to go.
 *
 * @param others all Kustomizations, and what they are about to have
 */
export async function refusePrune(
  inventory: readonly InventoryEntry[],
  desired: readonly DesiredObject[],
  live: LiveObjects,
  { kustomizations, soon }: Others,
  of: SubjectOfRun,
): Promise<readonly string[]> {
  const wantedIds = new Set([...desired, ...soon.map(({ ref }) => ({ id: formatEntryId(ref) }))].map(({ id }) => id));
  const unwanted = inventory.filter(({ id }) => !wantedIds.has(id));
  const doomed = await doomedBy(unwanted, live, of);
  if (doomed.length === 0) return [];
  const isNear = (ref: ObjectRef) => doomed.some((one) => mayConcern(ref, one));
  const judged = await judgeEntries(
    unwanted
      .map((entry) => ({ ...entry, ref: parseEntryId(entry.id) }))
      .filter(({ ref }) => isKustomization(ref) || isNear(ref)),
    live,
    of,
  );
  const goingIds = new Set(judged.flatMap(({ ref, why }) => (why === undefined ? [formatEntryId(ref)] : [])));
  // The ledger has a row for each object and none for a namespace, so it could only be asked by reading all of it; the statuses
  // also know what Flux has applied.
  const others = [...soon, ...wantedByKustomizations(kustomizations, { uid: of.owner.uid, goingIds, isNear })];
  const refusals: string[] = [];
  for (const one of doomed) {
    const { ref, extent } = one;
    const wanted = [
      ...desired.filter((object) => isWithin(object.ref, object.resource?.plural, extent)),
      ...(await concernedBy(one, others, of)),
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

/**
 * What can be said without the cluster. That others have the namespace or definition itself concerns it too: where they
 * also have a claim in the ledger it is handed over and not doomed, but Flux makes none.
 */
function mayConcern(ref: ObjectRef, { ref: container, extent }: Doomed): boolean {
  return isSame(ref, container) || mightBeWithin(ref, extent);
}

function isSame(a: ObjectRef, b: ObjectRef): boolean {
  return formatEntryId(a) === formatEntryId(b);
}

function isKustomization({ group, kind }: ObjectRef): boolean {
  return group === kustomizeGroup && kind === "Kustomization";
}

function eachOnce(wanted: readonly Wanted[]): readonly Wanted[] {
  const byId = new Map<string, Wanted>();
  for (const { ref, owner, why } of wanted) {
    const id = formatEntryId(ref);
    if (!byId.has(id)) byId.set(id, { ref, owner, why });
  }
  return [...byId.values()];
}

async function concernedBy(doomed: Doomed, others: readonly Wanted[], of: SubjectOfRun): Promise<readonly Wanted[]> {
  const near = others.filter(({ ref }) => mayConcern(ref, doomed));
  if (doomed.extent.kind === "namespace") return near;
  const plurals = new Map<string, string | undefined>();
  for (const { group, kind } of near.map(({ ref }) => ref)) {
    if (!plurals.has(kind)) plurals.set(kind, (await of.cluster.resource({ group, kind }, of.run.signal))?.plural);
  }
  return near.filter(({ ref }) => isSame(ref, doomed.ref) || isWithin(ref, plurals.get(ref.kind), doomed.extent));
}
