import { KustomizationStatus } from "../../api/kustomization-status.ts";
import { formatEntryId, parseEntryId } from "../../apply/entry-id.ts";
import { keptBy } from "../../apply/opt-outs.ts";
import type { Wanted } from "../../apply/prune-refusal.ts";
import { isJsonObject } from "../../core/json.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import { type ObjectRef, subject } from "../../core/object-ref.ts";
import { isGoingWithAll } from "./is-going-with-all.ts";

/**
 * The Kustomizations that live on, and what those but our own have in this cluster by their status. Pure.
 *
 * @param self whose own objects are known from elsewhere, and the ids of the entries that it is about to prune
 */
export function wantedByKustomizations(
  all: readonly LiveObject[],
  self: { readonly uid: string; readonly staleIds: ReadonlySet<string> },
): readonly Wanted[] {
  const isPruned = (live: LiveObject) =>
    self.staleIds.has(formatEntryId(refOf(live))) && keptBy(live.metadata) === undefined;
  return all
    .filter((live) => !isGoingWithAll(live, isPruned(live)))
    .flatMap((live) => [{ ref: refOf(live) }, ...(live.metadata.uid === self.uid ? [] : inventoryIn(live))]);
}

function inventoryIn(live: LiveObject): readonly Wanted[] {
  const { spec } = live;
  // What it has is in another cluster, by the same names.
  if (isJsonObject(spec) && spec["kubeConfig"] !== undefined) return [];
  const status = KustomizationStatus.pick({ inventory: true }).safeParse(live["status"] ?? {});
  const owner = subject(refOf(live));
  return (status.data?.inventory?.entries ?? []).flatMap(({ id }) => {
    const ref = readId(id);
    return ref === undefined ? [] : [{ ref, owner }];
  });
}

/** What another's status says wrong is no reason to stop here. */
function readId(id: string): ObjectRef | undefined {
  try {
    return parseEntryId(id);
  } catch {
    return undefined;
  }
}
