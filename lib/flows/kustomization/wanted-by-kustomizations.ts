import { KustomizationStatus } from "../../api/kustomization-status.ts";
import { formatEntryId, readEntryId } from "../../apply/entry-id.ts";
import type { Wanted } from "../../apply/prune-refusal.ts";
import { isJsonObject } from "../../core/json.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import { type ObjectRef, subject } from "../../core/object-ref.ts";
import { isGoingWithAll } from "./is-going-with-all.ts";

/** What is asked for, and by whom. */
export interface Asked {
  /** The Kustomization that asks: what it has itself is known from elsewhere. */
  readonly uid: string;
  /** The ids of what is about to be deleted. */
  readonly goingIds: ReadonlySet<string>;
  /** Which objects matter: a cluster may have more of others' than is worth holding. */
  readonly isNear: (ref: ObjectRef) => boolean;
}

/** The Kustomizations that live on, and what those but our own have in this cluster by their status. Pure. */
export function wantedByKustomizations(
  all: readonly LiveObject[],
  { uid, goingIds, isNear }: Asked,
): readonly Wanted[] {
  return all
    .filter((live) => !isGoingWithAll(live, goingIds.has(formatEntryId(refOf(live)))))
    .flatMap((live) => [{ ref: refOf(live) }, ...(live.metadata.uid === uid ? [] : inventoryIn(live))])
    .filter(({ ref }) => isNear(ref));
}

function inventoryIn(live: LiveObject): readonly Wanted[] {
  const { spec } = live;
  // What it has is in another cluster, by the same names.
  if (isJsonObject(spec) && spec["kubeConfig"] !== undefined) return [];
  const status = KustomizationStatus.pick({ inventory: true }).safeParse(live["status"] ?? {});
  const owner = subject(refOf(live));
  return (status.data?.inventory?.entries ?? []).flatMap(({ id }) => {
    // What another's status says wrong is no reason to stop here.
    const ref = readEntryId(id);
    return ref === undefined ? [] : [{ ref, owner }];
  });
}
