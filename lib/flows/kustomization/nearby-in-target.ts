import { readEntryId } from "../../apply/set/entry-id.ts";
import { mapLimit } from "../../core/concurrency.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import { hasKubeConfig } from "../owner/kube-config-field.ts";
import type { KustomizationContext } from "./context.ts";
import { inventoryIn } from "./other-owners.ts";
import { ours, savedClusters, sharingTarget } from "./sharing-target.ts";

/**
 * What Kustomizations with objects near ours by their status have in the cluster that ours are in. One that names a cluster has applied to
 * those that its saved inventories are of; its cluster is not asked, since whoever writes a kubeconfig could hold up others with it. Only
 * one without any saved inventory is opened, and counts if that fails: Flux may have applied it.
 */
export async function nearbyInTarget(
  all: readonly LiveObject[],
  isNear: (ref: ObjectRef) => boolean,
  ctx: KustomizationContext,
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

/** What the other Kustomization has in our target by its saved inventories; undefined if it has none of any cluster. */
async function savedInTarget(
  live: LiveObject,
  ctx: KustomizationContext,
  signal: AbortSignal,
): Promise<readonly [LiveObject, readonly ObjectRef[]] | undefined> {
  const { inventories } = ctx.deps;
  const { namespace = "", name, uid } = live.metadata;
  const clusters = await savedClusters(live, ctx, signal);
  if (clusters.length === 0) return undefined;
  // Read, not written: that takes no lease.
  const fence = { key: { ...ctx.run.key, namespace, name }, token: 0 };
  const entries = await mapLimit(
    clusters.filter((cluster) => ours(ctx).includes(cluster)),
    2,
    (one, stop) => inventories.load({ uid, clusterUid: one }, fence, stop),
    signal,
  );
  return [live, entries.flatMap((list) => list ?? []).flatMap(({ id }) => readEntryId(id) ?? [])];
}
