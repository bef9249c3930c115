import { helmGroup, kustomizeGroup } from "../../api/names.ts";
import type { OwnerNearby } from "../../apply/set/apply-set.ts";
import { readEntryId } from "../../apply/set/entry-id.ts";
import { mapLimit } from "../../core/concurrency.ts";
import { isJsonObject } from "../../core/json.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { InventoryStore } from "../../core/ports/inventory-store.ts";
import { hasKubeConfig } from "./kube-config-field.ts";
import { isBeingDeletedWithObjects } from "./owner-state.ts";
import { fenceOf, ours, type SharingContext, savedClusters, sharingTarget } from "./sharing-target.ts";

// The owners at home, of any kind, and their objects in the cluster of an owner's objects.

/** The inputs from a run. */
export type NearbyContext = SharingContext & {
  readonly deps: { readonly inventories: Pick<InventoryStore, "load"> };
};

/**
 * The owners at home, and which objects near ours they have in our cluster. A namespace or definition that holds some of them is not
 * deleted (ADR 0007). The ledger cannot answer that: it has a row for each object and none for a namespace, so all of it would have
 * to be read. A status also lists what Flux applied.
 *
 * @param kustomizations all of the home
 * @param isNear which objects matter: the others may have more than should be kept in memory
 */
export async function ownersAround(
  kustomizations: readonly LiveObject[],
  isNear: (ref: ObjectRef) => boolean,
  ctx: NearbyContext,
  signal: AbortSignal,
): Promise<readonly OwnerNearby[]> {
  const { home, homeUid, owner } = ctx;
  const all = [...kustomizations, ...(await ownersOfKind("HelmRelease", home, signal))];
  const inTarget = await nearbyInTarget(all, isNear, ctx);
  const self = { uid: owner.uid, isElsewhere: homeUid !== owner.clusterUid };
  return ownersNearby(all, { ...self, inTarget: (live) => inTarget.get(live) ?? [] }, isNear);
}

const kinds = {
  Kustomization: { group: kustomizeGroup, version: "v1", kind: "Kustomization" },
  HelmRelease: { group: helmGroup, version: "v2", kind: "HelmRelease" },
};

/**
 * The owners of this kind at home; none if the kind is not served there. Listed with the installation's rights: another owner's
 * objects count, whether or not the account of this one may see them.
 */
export async function ownersOfKind(
  kind: keyof typeof kinds,
  home: Pick<HomeCluster, "list">,
  signal: AbortSignal,
): Promise<readonly LiveObject[]> {
  try {
    return await home.list(kinds[kind], signal);
  } catch (error) {
    if (error instanceof ApiError && error.reason === "NoMatch") return [];
    throw error;
  }
}

/**
 * The owners among these, and which objects near ours they have according to their status. Pure.
 *
 * @param self our own uid, whether we apply to another cluster than the home, and what the others have in our target
 * @param isNear which objects of the target matter
 */
export function ownersNearby(
  all: readonly LiveObject[],
  self: {
    readonly uid: string;
    readonly isElsewhere: boolean;
    readonly inTarget: (live: LiveObject) => readonly ObjectRef[];
  },
  isNear: (ref: ObjectRef) => boolean,
): readonly OwnerNearby[] {
  return all
    .map((live): OwnerNearby => {
      const isSelf = live.metadata.uid === self.uid;
      return {
        ref: refOf(live),
        isSelf,
        isTerminating: isBeingDeletedWithObjects(live),
        cascades: isBeingDeletedWithObjects(live, true),
        has: isSelf
          ? []
          : self
              .inTarget(live)
              .filter(isNear)
              .map((ref) => ({ ref })),
      };
    })
    .filter(({ ref, has }) => has.length > 0 || (!self.isElsewhere && isNear(ref)));
}

/** An owner's objects according to its status. An unreadable entry in the status of another owner must not stop a run. */
export function inventoryIn({ status }: LiveObject): readonly ObjectRef[] {
  const inventory = isJsonObject(status) ? status["inventory"] : undefined;
  const entries = isJsonObject(inventory) && Array.isArray(inventory["entries"]) ? inventory["entries"] : [];
  return entries.flatMap((entry: unknown) => {
    const id = isJsonObject(entry) ? entry["id"] : undefined;
    return typeof id === "string" ? (readEntryId(id) ?? []) : [];
  });
}

/**
 * The objects that owners with objects near ours have in our objects' cluster, according to their status. An owner that names a
 * cluster has applied to the clusters of its saved inventories; its cluster is not asked, since the writer of a kubeconfig could
 * delay others with it. Only one without any saved inventory is opened, and counts if that fails: Flux may have applied it.
 */
async function nearbyInTarget(
  all: readonly LiveObject[],
  isNear: (ref: ObjectRef) => boolean,
  ctx: NearbyContext,
): Promise<ReadonlyMap<LiveObject, readonly ObjectRef[]>> {
  const near = all.filter((live) => inventoryIn(live).some(isNear));
  const saved = await mapLimit(
    near.filter(hasKubeConfig),
    8,
    (live, signal) => savedInTarget(live, ctx, signal),
    ctx.run.signal,
  );
  const known = new Map(saved.filter((one) => one !== undefined));
  const shared = await sharingTarget(
    near.filter((live) => !known.has(live)),
    true,
    ctx,
  );
  return new Map([...known, ...[...shared].map((live) => [live, inventoryIn(live)] as const)]);
}

/** The other owner's objects in our target according to its saved inventories; undefined if it has none for any cluster. */
async function savedInTarget(
  live: LiveObject,
  ctx: NearbyContext,
  signal: AbortSignal,
): Promise<readonly [LiveObject, readonly ObjectRef[]] | undefined> {
  const { inventories } = ctx.deps;
  const clusters = await savedClusters(live, ctx, signal);
  if (clusters.length === 0) return undefined;
  const entries = await mapLimit(
    clusters.filter((cluster) => ours(ctx).includes(cluster)),
    2,
    (one, stop) => inventories.load({ uid: live.metadata.uid, clusterUid: one }, fenceOf(live, ctx), stop),
    signal,
  );
  return [live, entries.flatMap((list) => list ?? []).flatMap(({ id }) => readEntryId(id) ?? [])];
}
