import type { InventoryOwner, InventoryStore } from "../../core/ports/inventory-store.ts";
import type { Run } from "../../core/ports/run.ts";
import type { RemoteTarget } from "./remote-target.ts";
import { TargetFault } from "./target-fault.ts";

/**
 * The uid of the cluster, or what stood for it when the inventory was first saved, since the credential could not read it then.
 *
 * @throws TargetFault if the owner may have objects in this cluster, and the cluster can no longer be identified
 */
export async function inventoryUid(
  { uid, fallbackUid, mayBe }: Pick<RemoteTarget, "fallbackUid" | "mayBe" | "uid">,
  {
    deps: { inventories },
    owner,
    run,
  }: {
    readonly deps: { readonly inventories: Pick<InventoryStore, "clusters" | "load"> };
    readonly owner: InventoryOwner;
    readonly run: Pick<Run, "fence" | "key" | "signal">;
  },
): Promise<string> {
  // The run needs this inventory anyway.
  const saved = (clusterUid: string) => inventories.load({ ...owner, clusterUid }, run.fence, run.signal);
  if ((await saved(uid)) !== undefined) return uid;
  const clusters = await inventories.clusters(owner, run.fence, run.signal);
  for (const known of clusters.filter(mayBe)) {
    if (((await saved(known)) ?? []).length > 0) throw new TargetFault(noLongerTold(run.key.kind));
  }
  return clusters.includes(fallbackUid) ? fallbackUid : uid;
}

/** Under another name the objects would count as another cluster's, and unwanted ones would stay for good. */
function noLongerTold(kind: string): string {
  return (
    `the credential of spec.kubeConfig may not get the namespace kube-system, by which its cluster is known, and this ${kind} ` +
    "has objects in a cluster of the same certificate authority, perhaps this one. Allow the credential to get the namespace " +
    "kube-system, or use one that may"
  );
}
