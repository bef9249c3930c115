import { KustomizationStatus } from "../../api/kustomization-status.ts";
import { readEntryId } from "../../apply/entry-id.ts";
import type { OwnerNearby } from "../../apply/prune/facts.ts";
import { isJsonObject } from "../../core/json.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import { isGoingWithAll } from "./is-going-with-all.ts";

/**
 * The Kustomizations of a cluster, and what those but our own have near something by their status: the ledger has a row for
 * each object and none for a namespace, so it could only be asked by reading all of it, and a status also knows what Flux has
 * applied. Pure.
 *
 * @param uid our own
 * @param isNear which objects matter: a cluster may have more of others' than is worth holding
 */
export function ownersNearby(
  all: readonly LiveObject[],
  uid: string,
  isNear: (ref: ObjectRef) => boolean,
): readonly OwnerNearby[] {
  return all
    .map((live): OwnerNearby => {
      const isSelf = live.metadata.uid === uid;
      return {
        ref: refOf(live),
        isSelf,
        isGoing: isGoingWithAll(live),
        takesAlong: isGoingWithAll(live, true),
        has: isSelf
          ? []
          : inventoryIn(live)
              .filter(isNear)
              .map((ref) => ({ ref })),
      };
    })
    .filter(({ ref, has }) => has.length > 0 || isNear(ref));
}

function inventoryIn(live: LiveObject): readonly ObjectRef[] {
  const { spec } = live;
  // What it has is in another cluster, by the same names.
  if (isJsonObject(spec) && spec["kubeConfig"] !== undefined) return [];
  const status = KustomizationStatus.pick({ inventory: true }).safeParse(live["status"] ?? {});
  // What another's status says wrong is no reason to stop here.
  return (status.data?.inventory?.entries ?? []).flatMap(({ id }) => readEntryId(id) ?? []);
}
